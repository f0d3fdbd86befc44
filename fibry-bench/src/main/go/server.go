// The Go server that ServerLoad compares with Fibry: `server` sends one response and closes the
// connection, `server keep` keeps the connection.
package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
)

const answer = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nHello\n"

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	keep := len(os.Args) > 1
	fmt.Println("port", listener.Addr().(*net.TCPAddr).Port)
	go func() {
		for {
			if connection, err := listener.Accept(); err == nil {
				go serve(connection, keep)
			}
		}
	}()
	bufio.NewReader(os.Stdin).ReadString(0) // until the parent closes it
}

func serve(connection net.Conn, keep bool) {
	defer connection.Close()
	in := bufio.NewReader(connection)
	for head(in) {
		if _, err := connection.Write([]byte(answer)); err != nil || !keep {
			return
		}
	}
}

// head reads up to a blank line, byte by byte. It returns false if the stream ends first.
func head(in *bufio.Reader) bool {
	line := 0
	for {
		b, err := in.ReadByte()
		if err != nil {
			return false
		}
		switch b {
		case '\n':
			if line == 0 {
				return true
			}
			line = 0
		case '\r':
		default:
			line++
		}
	}
}
