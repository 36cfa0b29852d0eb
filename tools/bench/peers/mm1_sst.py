"""Configuration of mm1_sst.cpp for the program sst. Argument: customers."""

import sys

import sst

sst.Component("queue", "mm1.Queue").addParams({"customers": sys.argv[1]})
