#!/usr/bin/env python3
"""Analyst: a small data agent without a model, for the examples.

It reads a question on standard input and prints JSON lines. It knows four questions about a shop; its second answer
counts the lines of an order in place of orders, and to its third it finds no data.
"""

from __future__ import annotations

import json
import sys

REVENUE = """\
SELECT strftime(day, '%Y-%m-01')::DATE AS "Month", count(DISTINCT o.id) AS orders,
       round(sum(quantity * price), 1) AS total
FROM items i JOIN orders o ON o.id = i.order_id
WHERE o.status NOT IN ('cancelled', 'returned')
GROUP BY 1"""
ORDERS = """\
SELECT region, count(*) AS orders
FROM customers c
JOIN orders o ON o.customer = c.id
JOIN items i ON i.order_id = o.id
GROUP BY region"""
DISCOUNT = "SELECT avg(discount) FROM items"

ANSWERS = {
    "revenue by month": ("Revenue by month, without what was **cancelled** or **returned**:", REVENUE),
    "each region": ("I joined customers, orders and items and counted by region:", ORDERS),
    "returned most": ("The tables hold *no returns*, so I cannot tell.", None),
    "discount": ("The average discount:", DISCOUNT),
}


def answer(question: str) -> tuple[str, str | None]:
    known = (found for words, found in ANSWERS.items() if words in question.lower())
    return next(known, ("I do not know that.", None))


def main() -> None:
    text, sql = answer(sys.stdin.buffer.read().decode("utf-8", "replace"))
    message = text if sql is None else f"{text}\n\n```sql\n{sql}\n```"
    for event in ({"type": "model", "name": "analyst-1"}, {"type": "message", "text": message}, {"type": "done"}):
        sys.stdout.write(json.dumps(event) + "\n")


if __name__ == "__main__":
    main()
