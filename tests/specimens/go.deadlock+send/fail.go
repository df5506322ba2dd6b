// A value is sent before anybody receives.
package main

import "fmt"

func main() {
	steps := make(chan int)
	steps <- 7
	fmt.Println("step", <-steps)
}
