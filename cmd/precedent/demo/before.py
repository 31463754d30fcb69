"""Refunds for orders of the shop."""


def open_amount(order):
    return order.paid - order.refunded


def refund(order, amount, gateway):
    if amount > open_amount(order):
        raise ValueError("more than was paid")
    gateway.refund(order.charge_id, amount)
    order.refunded += amount
