module example.com/sum-of-fields

go 1.19
