package io.fibry.net.tcp;

import io.fibry.Handler;
import io.fibry.block.Throwables;
import io.fibry.net.socket.ClientInput;
import io.fibry.net.socket.ClientSocket;
import io.fibry.text.Lines;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;

/**
 * Forwards connections to a target. The thread of the client's actor forwards the bytes of the
 * client, and a fiber forwards the bytes of the target. Thread-safe.
 */
public final class Forwarder implements Handler<ClientConnection> {
  private static final Duration CONNECT_LIMIT = Duration.ofSeconds(10);

  private final InetSocketAddress target;
  private final LongAdder clients = new LongAdder();
  private final LongAdder bytesToTarget = new LongAdder();
  private final LongAdder bytesToClient = new LongAdder();

  public Forwarder(InetSocketAddress target) {
    if (Objects.requireNonNull(target, "target").getPort() == 0) throw new IllegalArgumentException(
        "nothing can be forwarded to port 0 of " + target.getHostString() + "; give the port the target listens on");
    this.target = target;
  }

  @Override
  public void handle(ClientConnection client) throws Exception {
    clients.increment();
    client.socket.stopTracking();
    try (var targetSocket = new Socket()) {
      client.socket.closeTargetOnClose(targetSocket); // so a cut-off also ends the attempt to connect
      connect(targetSocket, client.socket);
      try (var checkedTarget = client.socket.checkTogetherWith(targetSocket)) {
        forward(client.in, new ClientInput(checkedTarget));
      }
    }
  }

  private void connect(Socket targetSocket, ClientSocket clientSocket) throws IOException {
    // resolved for each client, because the address of a name may change
    var address = target.isUnresolved() ? new InetSocketAddress(target.getHostString(), target.getPort()) : target;
    try {
      if (address.isUnresolved()) throw new ConnectException("no such host");
      targetSocket.connect(address, (int) CONNECT_LIMIT.toMillis());
    } catch (IOException refused) {
      var failure = new ConnectException(
          clientSocket + " was cut off: its target " + target + " cannot be reached: " + Lines.message(refused));
      failure.initCause(refused);
      throw clientSocket.asClientError(failure);
    }
  }

  private void forward(ClientInput fromClient, ClientInput fromTarget) throws Exception {
    var clientSocket = fromClient.socket;
    var failure = new Throwable[1]; // thrown on the fiber; read after its end
    var targetFiber = Thread.ofVirtual().inheritInheritableThreadLocals(false).start(() -> {
      try {
        pump(fromTarget, clientSocket, bytesToClient);
      } catch (Throwable thrown) {
        failure[0] = thrown;
        // a reset, because after a normal close the client would consider the truncated stream
        // complete
        clientSocket.reset("the target of " + clientSocket + " broke off: " + Lines.message(thrown), true);
      }
    });
    try {
      pump(fromClient, fromTarget.socket, bytesToTarget);
      targetFiber.join(); // the fiber ends when the target has ended its stream, or a socket is closed
    } catch (Throwable thrown) {
      // a reset, because after a normal close the target would consider the truncated stream
      // complete
      clientSocket.reset(clientSocket + " broke off: " + Lines.message(thrown), true);
      throw thrown;
    }
    if (failure[0] != null) throw Throwables.<Exception>sneakyThrow(failure[0]);
  }

  /**
   * Forwards bytes until the stream ends, and then ends the output to the receiver. A slow receiver
   * slows down the sender.
   */
  private static void pump(ClientInput in, ClientSocket receiver, LongAdder forwardedBytes) throws IOException {
    in.socket.renewIdleDeadline();
    while (in.fill()) {
      in.socket.renewIdleDeadline(); // renewed before the other side can reply
      receiver.send(in.buffer, in.position, in.end - in.position);
      forwardedBytes.add(in.end - in.position);
      in.position = in.end;
      in.socket.renewIdleDeadline();
    }
    receiver.endOutput();
  }

  @Override
  public String toString() {
    return "TCP forwarder to " + target + " (" + Lines.count(clients.sum(), "client") + ", " + bytesToTarget
        + " bytes there, "
        + bytesToClient + " back)";
  }
}
