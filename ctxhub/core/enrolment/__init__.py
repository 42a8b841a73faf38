"""How a program on a person's machine comes by tokens: it shows a code, and a signed-in person approves.

The shapes and names of requests and answers are those of RFC 8628, OAuth's device authorization grant.
"""
