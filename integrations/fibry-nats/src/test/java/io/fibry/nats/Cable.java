package io.fibry.nats;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The network between a client and its server. Cut, it carries nothing, and tells nobody:
 * connections stay open, as when a switch dies. Mended, it ends them, so that clients connect
 * again. Thread-safe.
 */
final class Cable implements AutoCloseable {
  /** The direction that is cut. */
  enum Cut {
    NOTHING, ALL, ANSWERS // bytes from the server
  }

  private final URI server;
  private final ServerSocket door;
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
  private volatile Cut cut = Cut.NOTHING;

  private Cable(URI server, ServerSocket door) {
    this.server = server;
    this.door = door;
  }

  static Cable to(String url) throws IOException {
    var cable = new Cable(URI.create(url), new ServerSocket(0, 50, InetAddress.getLoopbackAddress()));
    Thread.ofPlatform().daemon().name("cable").start(cable::accept);
    return cable;
  }

  /** {@return the URL to which clients connect} */
  String url() {
    return "nats://" + door.getInetAddress().getHostAddress() + ":" + door.getLocalPort();
  }

  void cut(Cut how) {
    cut = how;
  }

  void mend() {
    cut = Cut.NOTHING;
    closeAll();
  }

  private void accept() {
    while (!door.isClosed()) try {
      var client = door.accept();
      open.add(client);
      var upstream = new Socket(server.getHost(), server.getPort());
      open.add(upstream);
      carry(client, upstream, false);
      carry(upstream, client, true);
    } catch (IOException over) { // the door is closed, or the server is away
      closeAll();
    }
  }

  private void carry(Socket from, Socket to, boolean fromServer) {
    Thread.ofPlatform().daemon().name("cable").start(() -> {
      try (from; to; InputStream in = from.getInputStream(); OutputStream out = to.getOutputStream()) {
        var bytes = new byte[16 << 10];
        for (int read = in.read(bytes); read >= 0; read = in.read(bytes))
          if (cut == Cut.NOTHING || cut == Cut.ANSWERS && !fromServer) out.write(bytes, 0, read);
      } catch (IOException over) { // of the other side
        open.remove(from);
      }
    });
  }

  private void closeAll() {
    open.forEach(socket -> {
      try {
        socket.close();
      } catch (IOException over) { // it was closed
        open.remove(socket);
      }
    });
    open.clear();
  }

  @Override
  public void close() throws IOException {
    door.close();
    closeAll();
  }
}
