"""Embedding: models known by their weights, vectors computed once and remembered. Knows no other package.

Importing any of its modules loads no neural network library (EM-07); an `Encoder` loads one at its first text.
"""
