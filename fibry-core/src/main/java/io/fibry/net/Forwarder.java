package io.fibry.net;

import io.fibry.Handler;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;

/**
 * A conversation that passes on what comes, in both directions. Two threads: the actor's own takes
 * what the client sends to the target, a fiber brings back what the target answers. Thread-safe.
 */
final class Forwarder implements Handler<ClientConnection> {
  private static final Duration CONNECT = Duration.ofSeconds(10);

  private final InetSocketAddress target;
  private final LongAdder clients = new LongAdder();
  private final LongAdder there = new LongAdder(); // bytes
  private final LongAdder back = new LongAdder(); // bytes

  Forwarder(InetSocketAddress target) {
    if (Objects.requireNonNull(target, "target").getPort() == 0) throw new IllegalArgumentException(
        "nothing can be passed on to port 0 of " + target.getHostString() + "; give the port where the target listens");
    this.target = target;
  }

  @Override
  public void handle(ClientConnection client) throws Exception {
    clients.increment();
    var from = client.socket;
    try (var socket = new Socket()) {
      from.behind(socket); // who cuts the client off ends the wait for the target, too
      connect(socket, from);
      try (var other = from.other(socket)) {
        pass(client.in, new ClientInput(other));
      }
    }
  }

  private void connect(Socket socket, ClientSocket client) throws IOException {
    // its name may mean another address each time
    var now = target.isUnresolved() ? new InetSocketAddress(target.getHostString(), target.getPort()) : target;
    try {
      if (now.isUnresolved()) throw new ConnectException("no such host");
      socket.connect(now, (int) CONNECT.toMillis());
    } catch (IOException refused) {
      var told = new ConnectException(
          client + " was cut off, since its target " + target + " cannot be reached: " + refused.getMessage());
      told.initCause(refused);
      throw client.lost(told);
    }
  }

  private void pass(ClientInput from, ClientInput other) throws Exception {
    var client = from.socket;
    var failure = new Throwable[1]; // of the fiber; read after its end
    var answers = Thread.ofVirtual().inheritInheritableThreadLocals(false).start(() -> {
      try {
        pump(other, client, back);
      } catch (Throwable broken) {
        failure[0] = broken;
        // and the other with it; an end would make a torn answer look whole
        client.tear("the target of " + client + " broke off: " + broken.getMessage());
      }
    });
    try {
      pump(from, other.socket, there);
      answers.join(); // it ends with the links, whatever happens
    } catch (Throwable broken) {
      client.close();
      throw broken;
    }
    if (failure[0] instanceof Error error) throw error;
    if (failure[0] != null) throw (Exception) failure[0];
  }

  /** To the end of the stream, which is passed on, too. Who does not read holds back who sends. */
  private static void pump(ClientInput in, ClientSocket to, LongAdder count) throws IOException {
    var from = in.socket;
    from.active();
    while (in.fill()) {
      from.active(); // who is answered knows that it was
      to.send(in.buffer, in.at, in.end - in.at);
      count.add(in.end - in.at);
      in.at = in.end;
      from.active();
    }
    to.endOutput();
  }

  @Override
  public String toString() {
    return "TCP forwarder to " + target + " (" + clients + " clients, " + there + " bytes there, " + back + " back)";
  }
}
