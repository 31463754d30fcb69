"""Refunds for orders of the shop."""


def open_amount(order):
    return order.paid - order.refunded


def refund(order, amount, gateway, attempts=3):
    if amount > open_amount(order):
        raise ValueError("more than was paid")
    for attempt in range(attempts):
        try:
            gateway.refund(order.charge_id, amount)
            break
        except TimeoutError:
            if attempt == attempts - 1:
                raise
    order.refunded += amount
