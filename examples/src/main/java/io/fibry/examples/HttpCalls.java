package io.fibry.examples;

import io.fibry.io.Downloader;
import io.fibry.io.Downloader.Download;
import io.fibry.net.HttpRoutes;
import io.fibry.stereotype.Stereotypes;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

/** A hundred calls of 1.5 ms, in sequence, then parallel. The server waits on virtual threads. */
class HttpCalls {
  private static final int CALLS = 100;

  public static void main(String[] args) throws IOException {
    var arrivals = new CountDownLatch(CALLS);
    var routes = HttpRoutes.none()
        .text("/slow", exchange -> {
          Thread.sleep(Duration.ofNanos(1_500_000));
          return "Hello";
        })
        .text("/together", exchange -> { // responds when all calls have arrived
          arrivals.countDown();
          arrivals.await();
          return "Hello";
        });
    try (var server = Stereotypes.fibers().embeddedHttpServer(0, routes);
        var downloader = Stereotypes.fibers().downloader(o -> o.withMaxParallel(CALLS))) {
      var address = "http://localhost:" + server.port();
      System.out.println(
          callInParallel(downloader, URI.create(address + "/together")) + " calls were at the server together");
      // warm-up
      for (int round = 0; round < 3; round++) callInParallel(downloader, URI.create(address + "/slow"));

      long start = System.nanoTime();
      for (int i = 0; i < CALLS; i++) downloader.ask(URI.create(address + "/slow"));
      System.out.println(CALLS + " calls in sequence: " + millisSince(start) + " ms");

      start = System.nanoTime();
      callInParallel(downloader, URI.create(address + "/slow"));
      System.out.println(CALLS + " calls in parallel: " + millisSince(start) + " ms");
    }
  }

  private static int callInParallel(Downloader downloader, URI uri) {
    var answers = new ArrayList<CompletableFuture<Download>>();
    for (int i = 0; i < CALLS; i++) answers.add(downloader.sendMessageReturn(uri));
    answers.forEach(CompletableFuture::join);
    return answers.size();
  }

  private static long millisSince(long start) {
    return (System.nanoTime() - start) / 1_000_000;
  }
}
