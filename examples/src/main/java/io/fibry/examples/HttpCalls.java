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

/**
 * A hundred calls of 1.5 ms each, in sequence, then in parallel. Waiting holds no thread on either
 * side.
 */
class HttpCalls {
  private static final int CALLS = 100;

  public static void main(String[] args) throws IOException {
    var all = new CountDownLatch(CALLS);
    var routes = HttpRoutes.none()
        .text("/slow", exchange -> {
          Thread.sleep(Duration.ofNanos(1_500_000));
          return "Hello";
        })
        .text("/together", exchange -> { // answers when all calls have arrived
          all.countDown();
          all.await();
          return "Hello";
        });
    try (var server = Stereotypes.fibers().embeddedHttpServer(0, routes);
        var web = Stereotypes.fibers().downloader(o -> o.withMaxParallel(CALLS))) {
      var address = "http://localhost:" + server.port();
      System.out.println(inParallel(web, URI.create(address + "/together")) + " calls were at the server together");
      // warm-up
      for (int round = 0; round < 3; round++) inParallel(web, URI.create(address + "/slow"));

      long began = System.nanoTime();
      for (int i = 0; i < CALLS; i++) web.ask(URI.create(address + "/slow"));
      System.out.println(CALLS + " calls in sequence: " + millisSince(began) + " ms");

      began = System.nanoTime();
      inParallel(web, URI.create(address + "/slow"));
      System.out.println(CALLS + " calls in parallel: " + millisSince(began) + " ms");
    }
  }

  private static int inParallel(Downloader web, URI uri) {
    var answers = new ArrayList<CompletableFuture<Download>>();
    for (int i = 0; i < CALLS; i++) answers.add(web.sendMessageReturn(uri));
    answers.forEach(CompletableFuture::join);
    return answers.size();
  }

  private static long millisSince(long began) {
    return (System.nanoTime() - began) / 1_000_000;
  }
}
