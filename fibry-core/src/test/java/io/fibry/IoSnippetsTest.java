package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fibry.io.Downloader;
import io.fibry.io.Downloader.Download;
import io.fibry.io.Program;
import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.pool.Pools;
import io.fibry.support.Patience;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** Runs the Javadoc snippets of io.fibry.io. */
class IoSnippetsTest {

  /** Responds to every HTTP request with "hi". */
  private static void serve(ServerSocket serverSocket) {
    try {
      while (true) {
        try (var socket = serverSocket.accept()) {
          while (socket.getInputStream().read() != '\n') {
          }
          socket.getOutputStream().write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi".getBytes());
          socket.shutdownOutput();
          socket.getInputStream().readAllBytes();
        }
      }
    } catch (IOException e) {
      // the test has closed the socket
    }
  }

  @Test
  void downloaderAnswersAskAndRequestFutureWithPage() throws Exception {
    try (var serverSocket = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
      Thread.ofVirtual().start(() -> serve(serverSocket));
      var uri =
          URI.create("http://" + InetAddress.getLoopbackAddress().getHostAddress() + ":" + serverSocket.getLocalPort());
      CompletableFuture<Download> download;
      String page;

      // @start region="downloader"
      try (var web = Downloader.open(ActorSystem.anonymous(), o -> o.withMaxParallel(4).withMaxBytes(100_000))) {
        try {
          page = web.ask(uri, Duration.ofMinutes(1)).text();
        } catch (Downloader.HttpStatusException e) { // is an IOException
          page = "status " + e.status();
        }
        download = web.sendMessageReturn(uri); // cancelling it cancels the download
      } // finishes pending downloads
      // @end

      assertEquals("hi hi", page + " " + download.join().text());
    }
  }

  @Test
  void slowHostOccupiesOnlyItsOwnDownloader() throws Exception {
    var arrived = new CountDownLatch(2);
    var opened = new CountDownLatch(1);
    var working = new AtomicInteger();
    var maxWorking = new AtomicInteger();
    var slowRoutes = HttpRoutes.none().text("GET /", exchange -> {
      maxWorking.accumulateAndGet(working.incrementAndGet(), Math::max);
      arrived.countDown();
      opened.await();
      working.decrementAndGet();
      return "slow";
    });
    try (var scope = ActorSystem.openScope("crawler");
        var slow = HttpServer.open(scope.named("slow"), 0, slowRoutes, o -> o);
        var fast =
            HttpServer.open(scope.named("fast"), 0, HttpRoutes.none().text("GET /", exchange -> "fast"), o -> o)) {
      var pages = new ArrayList<CompletableFuture<Download>>();

      // @start region="hosts"
      var downloaders = new ConcurrentHashMap<String, Downloader>(); // by host and port
      Function<URI, Downloader> downloaderOf = uri -> downloaders.computeIfAbsent(uri.getAuthority(),
          host -> Downloader.open(scope.named("pages of " + host), o -> o.withMaxParallel(2)));

      for (int i = 0; i < 5; i++) { // two of them at once
        var page = URI.create("http://localhost:" + slow.port());
        pages.add(downloaderOf.apply(page).sendMessageReturn(page));
      }
      var otherPage = URI.create("http://localhost:" + fast.port());
      var text = downloaderOf.apply(otherPage).ask(otherPage).text(); // does not wait for the slow host
      // @end

      assertEquals("fast", text);
      Patience.await(arrived);
      opened.countDown();
      for (var page : pages) assertEquals("slow", Patience.value(page).text());
      assertEquals(2, maxWorking.get());
      downloaders.values().forEach(Downloader::close);
    }
  }

  @Test
  void poolOfProgramsReturnsOutputAndExitCode() {
    assumeTrue(Files.isExecutable(Path.of("/bin/echo")), "this system has no /bin/echo");

    // @start region="program"
    var echo = Program.of(Path.of("/bin/echo")).withEnvironment("LANG", "C.UTF-8").withLimit(Duration.ofMinutes(1))
        .withMaxOutput(10_000);
    // runs four processes at the same time
    var echoes = Pools.fixed(ActorSystem.anonymous(), 4).newActorWithReturn((String text) -> echo.run("-n", text));
    Program.Result result = echoes.ask("two  words");
    // @end

    assertEquals("two  words 0", result.text() + " " + result.exitCode());
    echoes.close();
  }
}
