package io.fibry.jdbc;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import org.postgresql.ds.PGSimpleDataSource;

/** A way to Postgres on which statements BEGIN can be cancelled, as `pg_cancel_backend` does. */
final class BeginCanceller implements AutoCloseable {
  private static final int ENCRYPTED = 80_877_103; // a client asks for it before its first message
  private static final byte[] BEGIN = "BEGIN\0".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] CANCELLED =
      "do 'begin raise exception ''canceled'' using errcode = ''57014''; end'\0".getBytes(StandardCharsets.US_ASCII);

  private final PGSimpleDataSource target;
  private final ServerSocket clients = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  private final AtomicInteger left = new AtomicInteger(); // to cancel

  BeginCanceller(PGSimpleDataSource target) throws IOException {
    this.target = target;
    Thread.ofVirtual().start(this::accept);
  }

  PGSimpleDataSource source() {
    var source = new PGSimpleDataSource();
    source.setServerNames(new String[] {"127.0.0.1"});
    source.setPortNumbers(new int[] {clients.getLocalPort()});
    source.setUser(target.getUser());
    source.setDatabaseName(target.getDatabaseName());
    source.setCurrentSchema(target.getCurrentSchema());
    return source;
  }

  /** Cancels the next statement BEGIN. */
  void cancelNext() {
    left.incrementAndGet();
  }

  /** {@return how many are to be cancelled} */
  int left() {
    return left.get();
  }

  private void accept() {
    try {
      while (true) connect(clients.accept());
    } catch (IOException closed) {}
  }

  private void connect(Socket client) throws IOException {
    var server = new Socket("127.0.0.1", target.getPortNumbers()[0]);
    Thread.ofVirtual().start(() -> run(client, server, () -> ask(client.getInputStream(), server.getOutputStream())));
    Thread.ofVirtual()
        .start(() -> run(client, server, () -> server.getInputStream().transferTo(client.getOutputStream())));
  }

  private interface Way {
    void go() throws IOException;
  }

  private static void run(Socket client, Socket server, Way way) {
    try (client; server) {
      way.go();
    } catch (IOException ended) {}
  }

  private void ask(InputStream client, OutputStream server) throws IOException {
    var from = new DataInputStream(client);
    var to = new DataOutputStream(server);
    while (forward(from, to, from.readInt())) {
    }
    while (true) {
      int type = from.readByte();
      var body = from.readNBytes(from.readInt() - 4);
      if (type == 'Q' && Arrays.equals(body, BEGIN) && left.getAndUpdate(n -> Math.max(0, n - 1)) > 0)
        body = CANCELLED;
      to.writeByte(type);
      to.writeInt(body.length + 4);
      to.write(body);
      if (client.available() == 0) to.flush();
    }
  }

  /** A message without a type. Returns true if another message follows. */
  private static boolean forward(DataInputStream from, DataOutputStream to, int length) throws IOException {
    var body = from.readNBytes(length - 4);
    to.writeInt(length);
    to.write(body);
    to.flush();
    return length == 8 && ByteBuffer.wrap(body).getInt() == ENCRYPTED;
  }

  @Override
  public void close() throws IOException {
    clients.close();
  }
}
