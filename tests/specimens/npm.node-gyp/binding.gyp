{"targets": [{"target_name": "sum", "sources": ["sum.cc"]}]}
