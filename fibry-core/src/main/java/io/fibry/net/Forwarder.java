package io.fibry.net;

import io.fibry.Handler;
import io.fibry.block.Throwables;
import io.fibry.text.Lines;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;

/**
 * Forwards connections to a target: one direction on the actor's thread, one on a fiber.
 * Thread-safe.
 */
final class Forwarder implements Handler<ClientConnection> {
  private static final Duration CONNECT_LIMIT = Duration.ofSeconds(10);

  private final InetSocketAddress target;
  private final LongAdder clients = new LongAdder();
  private final LongAdder bytesThere = new LongAdder();
  private final LongAdder bytesBack = new LongAdder();

  Forwarder(InetSocketAddress target) {
    if (Objects.requireNonNull(target, "target").getPort() == 0) throw new IllegalArgumentException(
        "nothing can be forwarded to port 0 of " + target.getHostString() + "; give the port the target listens on");
    this.target = target;
  }

  @Override
  public void handle(ClientConnection client) throws Exception {
    clients.increment();
    client.socket.stopTracking();
    try (var socket = new Socket()) {
      client.socket.closeWithThis(socket); // a cut ends the connect, too
      connect(socket, client.socket);
      try (var checked = client.socket.checkWithThis(socket)) {
        forward(client.in, new ClientInput(checked));
      }
    }
  }

  private void connect(Socket socket, ClientSocket client) throws IOException {
    // a name may mean another address each time
    var address = target.isUnresolved() ? new InetSocketAddress(target.getHostString(), target.getPort()) : target;
    try {
      if (address.isUnresolved()) throw new ConnectException("no such host");
      socket.connect(address, (int) CONNECT_LIMIT.toMillis());
    } catch (IOException refused) {
      var failure = new ConnectException(
          client + " was cut off, since its target " + target + " cannot be reached: " + Lines.message(refused));
      failure.initCause(refused);
      throw client.asClientError(failure);
    }
  }

  private void forward(ClientInput fromClient, ClientInput fromTarget) throws Exception {
    var client = fromClient.socket;
    var failure = new Throwable[1]; // of the fiber; read after its end
    var answers = Thread.ofVirtual().inheritInheritableThreadLocals(false).start(() -> {
      try {
        pump(fromTarget, client, bytesBack);
      } catch (Throwable broken) {
        failure[0] = broken;
        // a mere close would make a broken answer look whole
        client.reset("the target of " + client + " broke off: " + Lines.message(broken));
      }
    });
    try {
      pump(fromClient, fromTarget.socket, bytesThere);
      answers.join(); // it ends with the sockets
    } catch (Throwable broken) {
      client.reset(client + " broke off: " + Lines.message(broken)); // the target must not take it for the end
      throw broken;
    }
    if (failure[0] != null) throw Throwables.<Exception>sneakyThrow(failure[0]);
  }

  /** Forwards the end of the stream, too. A slow reader slows the sender. */
  private static void pump(ClientInput in, ClientSocket to, LongAdder count) throws IOException {
    in.socket.noteActivity();
    while (in.fill()) {
      in.socket.noteActivity(); // before the other side can answer
      to.send(in.buffer, in.at, in.end - in.at);
      count.add(in.end - in.at);
      in.at = in.end;
      in.socket.noteActivity();
    }
    to.endOutput();
  }

  @Override
  public String toString() {
    return "TCP forwarder to " + target + " (" + clients + " clients, " + bytesThere + " bytes there, " + bytesBack
        + " back)";
  }
}
