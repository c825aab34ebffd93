module example.com/counter-by-value

go 1.19
