from trasgodp.categorical import dp_exponential_array

released = lambda column: {str(value) for _ in range(500) for value in dp_exponential_array(column, 1.0)}
left, right = released(["a", "b", "b"]), released(["a", "b", "c"])
print("released categories:", left, "and", right)
assert "c" not in left
assert "c" in right
