package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.io.Downloader;
import io.fibry.io.Downloader.Download;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The regions that the Javadoc of io.fibry.io shows, run. */
@Timeout(20)
class IoSnippetsTest {

  /** Says hi to whoever asks. */
  private static void serve(ServerSocket listening) {
    try {
      while (true) {
        try (var socket = listening.accept()) {
          while (socket.getInputStream().read() != '\n') {}
          socket.getOutputStream().write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi".getBytes());
          socket.shutdownOutput();
          socket.getInputStream().readAllBytes();
        }
      }
    } catch (IOException closed) {
      // by the end of the test
    }
  }

  @Test
  void downloader() throws Exception {
    try (var listening = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
      Thread.ofVirtual().start(() -> serve(listening));
      var uri = URI.create("http://" + InetAddress.getLoopbackAddress().getHostAddress() + ":" + listening.getLocalPort());
      CompletableFuture<Download> another;
      String page;

      // @start region="downloader"
      try (var web = Downloader.open(ActorSystem.anonymous(), o -> o.withParallel(4).withMaxBytes(100_000))) {
        page = web.ask(uri, Duration.ofSeconds(5)).text();
        another = web.sendMessageReturn(uri); // cancelling it breaks the download off
      } // downloads what waits
      // @end

      assertEquals("hi hi", page + " " + another.resultNow().text());
    }
  }
}
