// The channel has room for the value.
package main

import "fmt"

func main() {
	steps := make(chan int, 1)
	steps <- 7
	fmt.Println("step", <-steps)
}
