"""What will a plan take, judging by what earlier attempts took?"""
