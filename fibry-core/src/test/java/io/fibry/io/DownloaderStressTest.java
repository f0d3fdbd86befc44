package io.fibry.io;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.io.Downloader.Download;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.testing.SilencedStdErr;
import io.fibry.testing.StressRuns;
import io.fibry.testing.Variants;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Tests downloads from servers with malformed responses, and downloaders that end early. */
@ExtendWith(SilencedStdErr.class) // hides the log lines about kills of actors on threads of executors
class DownloaderStressTest {
  private static final String[] RESPONSES = {
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nhello",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "HTTP/1.1 302 Found\r\nLocation: /%41\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.1 503 Busy\r\nRetry-After: 100\r\nContent-Length: 4\r\n\r\nbusy",
    "HTTP/1.0 200 OK\r\n\r\n" + "x".repeat(300),
  };

  private static final int DOWNLOADS = Soak.ON ? 300 : 100;
  private static final int ROUNDS = Soak.ON ? 14 : 7;

  private final long seed = StressRuns.seed();

  /** Returns a response with some bytes changed or cut off. */
  private static byte[] malformedResponse(Random random) {
    var bytes = RESPONSES[random.nextInt(RESPONSES.length)].getBytes(StandardCharsets.ISO_8859_1);
    for (int i = random.nextInt(4); i > 0; i--) bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
    return random.nextInt(4) == 0 ? java.util.Arrays.copyOf(bytes, random.nextInt(bytes.length)) : bytes;
  }

  @Test
  void malformedResponseGivesBoundedBodyOrIOException() {
    System.out.println("DownloaderStressTest -Dfibry.seed=" + seed);
    var random = new Random(seed);
    try (var web = new ScriptedWebServer((head, out) -> {
      byte[] response;
      synchronized (random) {
        response = malformedResponse(random);
      }
      out.write(response);
    }); var downloader = Downloader.open(ActorSystem.anonymous(), o -> o.withMaxBytes(200).withMaxAttempts(1))) {
      for (int i = 0; i < DOWNLOADS; i++) {
        var future = downloader.sendMessageReturn(web.uri("/" + i));
        Patience.eventually("seed " + seed, future::isDone);
        if (future.state() == Future.State.SUCCESS) {
          var download = future.resultNow();
          assertTrue(download.data().length <= 200 && download.text() != null, () -> "seed " + seed + ": " + download);
        } else {
          var failure = future.exceptionNow();
          assertTrue(failure instanceof IOException, () -> "seed " + seed + ": " + failure);
        }
      }
    }
  }

  @Test
  void everyDownloadCompletesHoweverItsDownloaderEnds() {
    System.out.println("DownloaderStressTest -Dfibry.seed=" + seed);
    var random = new Random(seed);
    var strategies = new ArrayList<>(Variants.STRATEGIES.keySet());
    strategies.remove("CALLER"); // on CALLER each download runs on the thread that asks for it
    for (int round = 0; round < ROUNDS; round++) runRound(random, strategies.get(random.nextInt(strategies.size())));
  }

  private void runRound(Random random, String strategy) {
    var requests = new AtomicInteger();
    int answeredRequests = random.nextInt(20);
    try (var web = new ScriptedWebServer((head, out) -> {
      if (requests.incrementAndGet() <= answeredRequests) out.write(RESPONSES[0].getBytes());
      else LockSupport.parkNanos(100_000_000);
    }); ActorScope scope = ActorSystem.openScope("stress", o -> o.withKillGrace(Duration.ofMillis(20)))) {
      var downloader = Downloader.open(scope.anonymous().strategy(Variants.STRATEGIES.get(strategy)),
          o -> o.withMaxParallel(1 + random.nextInt(4)));
      var futures = new ArrayList<CompletableFuture<Download>>();
      for (int i = 0; i < 20; i++) futures.add(downloader.sendMessageReturn(web.uri("/" + i)));
      futures.get(random.nextInt(20)).cancel(true);
      switch (random.nextInt(3)) {
        case 0 -> downloader.askExit();
        case 1 -> downloader.kill();
        default -> scope.closeWithin(Duration.ZERO);
      }
      Patience.awaitEnd(downloader::waitForExit);

      Patience.eventually(() -> futures.stream().allMatch(CompletableFuture::isDone));
    }
  }
}
