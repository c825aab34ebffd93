module example.com/tags-in-order

go 1.19
