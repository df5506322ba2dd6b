// The reader waits for a channel that nobody closes.
package main

import "fmt"

func main() {
	losses := make(chan float64)
	go func() {
		for _, loss := range []float64{2.3, 1.1, 0.7} {
			losses <- loss
		}
	}()
	total := 0.0
	for loss := range losses {
		total += loss
	}
	fmt.Printf("total %.1f\n", total)
}
