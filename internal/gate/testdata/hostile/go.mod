module hostile.example

go 1.20
