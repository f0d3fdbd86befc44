package io.fibry.examples.web;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.Socket;

/** A guest of the chat, connected by TCP. */
public final class Terminal implements AutoCloseable {
  private final Socket socket;
  private final BufferedReader in;
  private final PrintWriter out;

  public Terminal(int port, String name) throws IOException {
    socket = new Socket(InetAddress.getLoopbackAddress(), port);
    in = new BufferedReader(new InputStreamReader(socket.getInputStream()));
    out = new PrintWriter(socket.getOutputStream(), true);
    say(name);
  }

  /** Waits for the next line, and returns it. */
  public String hear() throws IOException {
    return in.readLine();
  }

  public void say(String text) {
    out.println(text);
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
