package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.support.Certificates;
import io.fibry.support.Patience;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests how many bytes a handler can read through TLS without waiting. */
class TlsAvailableTest {
  private static final SSLContext CONTEXT = Certificates.context();

  private final ServerScope net = new ServerScope();

  @AfterEach
  void close() {
    net.close();
  }

  /**
   * The result must not count bytes of TLS itself: a record is longer than its content, and some
   * records have no content.
   */
  @ParameterizedTest
  @ValueSource(strings = {"TLSv1.3", "TLSv1.2"})
  void availableCountsContentBytesButNoBytesOfTls(String protocol) throws Exception {
    var available = new CompletableFuture<Integer>();
    var acceptor = net.open(client -> {
      var in = client.inputStream();
      Patience.eventually(() -> available(in) > 0);
      available.complete(available(in));
    }, o -> o.withTls(CONTEXT));

    try (var socket = Certificates.connect(CONTEXT, acceptor.port(), protocol)) {
      if (protocol.equals("TLSv1.3")) socket.startHandshake(); // requests new keys
      socket.getOutputStream().write("hello".getBytes());

      assertEquals(5, Patience.value(available));
    }
  }

  private static int available(InputStream in) {
    try {
      return in.available();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** The content of a record is unknown until the record is complete. */
  @Test
  void noBytesAreAvailableUntilRecordIsComplete() throws Exception {
    var sent = new CompletableFuture<Void>();
    var available = new LinkedBlockingQueue<Integer>();
    var acceptor = net.open(client -> {
      var in = client.inputStream();
      Patience.value(sent);
      available.add(available(in));
      Patience.eventually(() -> available(in) > 0);
      available.add(available(in));
    }, o -> o.withTls(CONTEXT));

    try (var transport = new DelayingSocket(acceptor.port());
        var socket =
            (SSLSocket) CONTEXT.getSocketFactory().createSocket(transport, "localhost", acceptor.port(), true)) {
      socket.startHandshake();
      transport.delaysLastByte = true;
      socket.getOutputStream().write("hello".getBytes());
      sent.complete(null);
      assertEquals(0, Patience.nextOf(available));

      transport.sendHeldByte();
      assertEquals(5, Patience.nextOf(available));
    }
  }

  /** A socket that, on demand, holds back the last byte of a write. */
  private static final class DelayingSocket extends Socket {
    private volatile boolean delaysLastByte;
    private byte heldByte;

    DelayingSocket(int port) throws IOException {
      super(InetAddress.getLoopbackAddress(), port);
    }

    @Override
    public OutputStream getOutputStream() throws IOException {
      return new FilterOutputStream(super.getOutputStream()) {
        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
          int sentLength = delaysLastByte ? length - 1 : length;
          heldByte = bytes[offset + length - 1];
          out.write(bytes, offset, sentLength);
        }
      };
    }

    void sendHeldByte() throws IOException {
      delaysLastByte = false;
      super.getOutputStream().write(heldByte);
    }
  }
}
