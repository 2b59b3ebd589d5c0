from trasgodp.categorical import dp_randomized_response_binary_array

print(dp_randomized_response_binary_array(["a", "b"], 1.0))
try:
    dp_randomized_response_binary_array(["a", "a"], 1.0)
    raise SystemExit("no error")
except ValueError as error:
    print(repr(error))
