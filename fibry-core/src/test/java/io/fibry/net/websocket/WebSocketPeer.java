package io.fibry.net.websocket;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.support.Patience;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A WebSocket client that may send any bytes, and reads and writes frames with its own code. */
final class WebSocketPeer implements AutoCloseable {
  static final String KEY = "dGhlIHNhbXBsZSBub25jZQ=="; // the example of RFC 6455, like ACCEPTANCE
  static final String ACCEPTANCE = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

  final Socket socket;
  private final DataInputStream in;
  final String head; // the head of the response to the handshake

  record Frame(int firstByte, byte[] data) {
    String text() {
      return new String(data, StandardCharsets.UTF_8);
    }

    @Override
    public String toString() {
      return switch (firstByte) {
        case 0x81 -> "text " + text();
        case 0x82 -> "bytes " + data.length;
        case 0x88 -> "close " + (data.length == 0 ? "" : ByteBuffer.wrap(data).getShort() & 0xffff);
        case 0x89 -> "ping";
        case 0x8a -> "pong " + (data.length > 5 ? data.length : text());
        default -> "wrong " + firstByte;
      };
    }
  }

  /** Connects, and performs the handshake. */
  WebSocketPeer(int port, String path, String... headers) {
    this(port, new Socket(), request(path, headers));
  }

  private WebSocketPeer(int port, Socket socket, String request) {
    try {
      this.socket = socket;
      socket.connect(new java.net.InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      socket.setSoTimeout((int) Patience.LONG.toMillis());
      socket.setTcpNoDelay(true);
      in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
      send(request.getBytes(StandardCharsets.ISO_8859_1));
      var head = new StringBuilder();
      while (head.indexOf("\r\n\r\n") < 0) head.append((char) in.readUnsignedByte());
      this.head = head.toString();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Returns a client whose small receive buffer fills soon if it does not read. */
  static WebSocketPeer openWithSmallBuffer(int port, String path) throws IOException {
    var socket = new Socket();
    socket.setReceiveBufferSize(4_096);
    return new WebSocketPeer(port, socket, request(path));
  }

  static String request(String path, String... headers) {
    return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n"
        + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " + KEY + "\r\n"
        + (headers.length == 0 ? "" : String.join("\r\n", headers) + "\r\n") + "\r\n";
  }

  // ---- frames

  /** Returns a masked frame with the shortest encoding of its length. */
  static byte[] frame(int firstByte, byte[] data) {
    int length = data.length;
    var head = ByteBuffer.allocate(10).put((byte) firstByte);
    if (length < 126) head.put((byte) (0x80 | length));
    else if (length < 0x1_0000) head.put((byte) (0x80 | 126)).putShort((short) length);
    else head.put((byte) (0x80 | 127)).putLong(length);
    return join(java.util.Arrays.copyOf(head.array(), head.position()), masked(data));
  }

  static byte[] frame(int firstByte, String text) {
    return frame(firstByte, text.getBytes(StandardCharsets.UTF_8));
  }

  static byte[] close(int code, String reason) {
    return frame(0x88, join(new byte[] {(byte) (code >> 8), (byte) code}, reason.getBytes(StandardCharsets.UTF_8)));
  }

  /** Returns a mask, followed by the masked data. */
  static byte[] masked(byte[] data) {
    byte[] mask = {(byte) 0xa1, 0x02, (byte) 0xf3, 0x44};
    var masked = data.clone();
    for (int i = 0; i < masked.length; i++) masked[i] ^= mask[i % 4];
    return join(mask, masked);
  }

  static byte[] join(byte[]... parts) {
    var bytes = new ByteArrayOutputStream();
    for (var part : parts) bytes.writeBytes(part);
    return bytes.toByteArray();
  }

  WebSocketPeer send(byte[] bytes) {
    try {
      socket.getOutputStream().write(bytes);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
    return this;
  }

  WebSocketPeer text(String text) {
    return send(frame(0x81, text));
  }

  WebSocketPeer bytes(byte[] data) {
    return send(frame(0x82, data));
  }

  WebSocketPeer close(int code) {
    return send(close(code, ""));
  }

  /** Waits until the first byte of the next frame has arrived, and does not take it. */
  WebSocketPeer awaitFrame() {
    try {
      in.mark(1);
      assertTrue(in.read() >= 0, "the connection has ended");
      in.reset();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
    return this;
  }

  /** Returns the next frame, or null at the end. */
  Frame next() {
    try {
      int firstByte = in.read();
      if (firstByte < 0) return null;
      int length = in.readUnsignedByte(); // a mask bit would give a wrong length
      var data = new byte[length == 127 ? (int) in.readLong() : length == 126 ? in.readUnsignedShort() : length];
      in.readFully(data);
      return new Frame(firstByte, data);
    } catch (EOFException torn) {
      return new Frame(-1, new byte[0]);
    } catch (SocketException reset) {
      return new Frame(-2, new byte[0]);
    } catch (IOException stillOpen) {
      throw new UncheckedIOException("the connection is still open", stillOpen);
    }
  }

  /** Returns the remaining frames, and the kind of the end: "end", "torn" or "reset". */
  List<String> readToEnd() {
    var frames = new ArrayList<String>();
    Frame frame;
    while ((frame = next()) != null && frame.firstByte >= 0) frames.add(frame.toString());
    frames.add(frame == null ? "end" : frame.firstByte == -1 ? "torn" : "reset");
    return frames;
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
