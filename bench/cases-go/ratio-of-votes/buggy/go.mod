module example.com/ratio-of-votes

go 1.19
