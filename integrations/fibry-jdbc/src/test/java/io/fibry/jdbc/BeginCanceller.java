package io.fibry.jdbc;

import java.io.BufferedOutputStream;
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
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.postgresql.ds.PGSimpleDataSource;

/** A proxy for Postgres that can cancel BEGIN statements, as `pg_cancel_backend` does. */
final class BeginCanceller implements AutoCloseable {
  private static final int ENCRYPTION_REQUEST = 80_877_103; // code of a request that may precede the startup message
  // Bodies of messages that parse a statement: its name, its text, and the number of parameters.
  private static final byte[] BEGIN = "\0begin\0\0\0".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] FAILING_STATEMENT =
      "\0do 'begin raise exception ''cancelled'' using errcode = ''57014''; end'\0\0\0"
          .getBytes(StandardCharsets.US_ASCII);

  private final PGSimpleDataSource target;
  private final ServerSocket clients = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  private final AtomicInteger pendingCancellations = new AtomicInteger();
  private volatile BooleanSupplier mustCancel = () -> false; // called at each BEGIN if no cancellation is pending

  BeginCanceller(PGSimpleDataSource target) throws IOException {
    this.target = target;
    Thread.ofVirtual().start(this::accept);
  }

  PGSimpleDataSource source() {
    var source = PostgresServer.source(target.getCurrentSchema(), clients.getLocalPort());
    source.setPrepareThreshold(0); // so that the driver parses each statement whenever it runs it
    return source;
  }

  /** Cancels the next statement BEGIN. */
  void cancelNext() {
    pendingCancellations.incrementAndGet();
  }

  /** Cancels BEGIN statements with this probability. */
  void cancelRandomly(Random random, double probability) {
    mustCancel = () -> random.nextDouble() < probability;
  }

  /** Cancels no more BEGIN statements. Cancellations that are pending still take place. */
  void stop() {
    mustCancel = () -> false;
  }

  /** {@return how many BEGIN statements are still to be cancelled} */
  int pendingCancellations() {
    return pendingCancellations.get();
  }

  private void accept() {
    try {
      while (true) connect(clients.accept());
    } catch (IOException failure) {}
  }

  private void connect(Socket client) throws IOException {
    var server = new Socket("127.0.0.1", target.getPortNumbers()[0]);
    client.setTcpNoDelay(true); // otherwise a short message waits 40 ms until the previous one is acknowledged
    server.setTcpNoDelay(true);
    Thread.ofVirtual().start(
        () -> run(client, server, () -> forwardRequests(client.getInputStream(), server.getOutputStream())));
    Thread.ofVirtual()
        .start(() -> run(client, server, () -> server.getInputStream().transferTo(client.getOutputStream())));
  }

  private interface Transfer {
    void run() throws IOException;
  }

  private static void run(Socket client, Socket server, Transfer transfer) {
    try (client; server) {
      transfer.run();
    } catch (IOException failure) {}
  }

  private void forwardRequests(InputStream client, OutputStream server) throws IOException {
    var input = new DataInputStream(client);
    var output = new DataOutputStream(new BufferedOutputStream(server));
    while (forwardStartup(input, output, input.readInt())) {
    }
    while (true) {
      int type = input.readByte();
      var body = input.readNBytes(input.readInt() - 4);
      if (type == 'P' && Arrays.equals(body, BEGIN) && isNextCancelled()) body = FAILING_STATEMENT;
      output.writeByte(type);
      output.writeInt(body.length + 4);
      output.write(body);
      if (client.available() == 0) output.flush();
    }
  }

  private boolean isNextCancelled() {
    return pendingCancellations.getAndUpdate(n -> Math.max(0, n - 1)) > 0 || mustCancel.getAsBoolean();
  }

  /**
   * Forwards a startup message, which has no type byte. Returns true if another startup message
   * follows.
   */
  private static boolean forwardStartup(DataInputStream input, DataOutputStream output, int length) throws IOException {
    var body = input.readNBytes(length - 4);
    output.writeInt(length);
    output.write(body);
    output.flush();
    return length == 8 && ByteBuffer.wrap(body).getInt() == ENCRYPTION_REQUEST;
  }

  @Override
  public void close() throws IOException {
    clients.close();
  }
}
