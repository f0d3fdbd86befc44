package io.fibry.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.simulation.tap.RandomTap;
import java.io.IOException;
import java.math.BigInteger;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.http.HttpClient;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Date;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Tests clocks, random numbers, sockets and mailboxes. A simulated thread's calls reach the
 * simulation, and calls of ordinary threads reach the real machine.
 */
class RedirectedTest {
  private static final long YEAR_2030 = 1_893_456_000_000L;

  @Test
  @Promise("29.6")
  void redirectedClocksReadSimulatedTime() throws Exception {
    var times = TinyMachine.play(() -> List.of(System.nanoTime(), System.currentTimeMillis(), new Date().getTime(),
        Instant.now().toEpochMilli(), LocalDate.now(ZoneOffset.UTC).toString()));

    assertEquals(List.of(0L, TinyMachine.EPOCH, TinyMachine.EPOCH, TinyMachine.EPOCH, "2026-01-01"), times);
  }

  @Test
  @Promise({"29.6", "29.19"})
  void ordinaryThreadsReadRealClocks() throws Exception {
    TinyMachine.play(() -> null);

    for (var isBeforeStart : TinyMachine
        .runOutside(() -> ProcessHandle.current().info().startInstant().orElseThrow().isAfter(Instant.now())))
      assertFalse(isBeforeStart);
    long start = System.nanoTime();
    for (long nanos : TinyMachine.runOutside(System::nanoTime))
      assertTrue(nanos - start >= 0 && System.nanoTime() - nanos >= 0);
  }

  @Test
  void methodReferenceToClockReadsSimulatedTime() throws Exception {
    assertEquals(0L, TinyMachine.play(() -> {
      Supplier<Long> clock = System::nanoTime;
      return clock.get();
    }));
  }

  @Test
  void sleepTakesNoRealTime() throws Exception {
    var start = Instant.now();

    long millis = TinyMachine.play(() -> {
      Thread.sleep(Duration.ofDays(365));
      return System.currentTimeMillis();
    });

    assertEquals(TinyMachine.EPOCH + Duration.ofDays(365).toMillis(), millis);
    assertTrue(Instant.now().isBefore(start.plus(Duration.ofDays(1))));
  }

  @Test
  void timedWaitsEndBySimulatedClock() throws Exception {
    assertEquals(Duration.ofHours(3).toNanos(), TinyMachine.play(() -> {
      LockSupport.parkNanos(Duration.ofHours(1).toNanos());
      assertFalse(new CountDownLatch(1).await(1, TimeUnit.HOURS));
      assertThrows(TimeoutException.class, () -> new CompletableFuture<>().get(1, TimeUnit.HOURS));
      return System.nanoTime();
    }));
  }

  @Test
  void spinWaitOfSimulatedThreadReachesSimulation() throws Exception {
    assertEquals(1L, TinyMachine.play(() -> {
      Thread.onSpinWait();
      return TinyMachine.machine().spins;
    }));
  }

  @Test
  @Promise("29.6")
  void randomNumbersComeFromSimulation() throws Exception {
    assertEquals(0.0625, TinyMachine.play(Math::random));
    var uuid = TinyMachine.play(UUID::randomUUID);
    assertEquals(4, uuid.version());
    assertEquals(2, uuid.variant());
    assertEquals(uuid, TinyMachine.play(UUID::randomUUID));
    assertEquals(TinyMachine.play(() -> ThreadLocalRandom.current().nextLong()),
        TinyMachine.play(() -> ThreadLocalRandom.current().nextLong()));
    Callable<List<Object>> drawSecure = () -> {
      var bytes = new byte[20];
      new SecureRandom().nextBytes(bytes);
      return List.of(new SecureRandom().nextLong(), new SecureRandom().nextInt(), new SecureRandom().nextInt(1_000),
          new BigInteger(bytes));
    };
    assertEquals(TinyMachine.play(drawSecure), TinyMachine.play(drawSecure));
  }

  @Test
  void randomGeneratorsOfJdkRepeatNumbersAfterSeedReset() throws Exception {
    Callable<List<Object>> draw = () -> {
      RandomTap.reset(17);
      var list = new ArrayList<>(IntStream.range(0, 20).boxed().toList());
      Collections.shuffle(list);
      return List.of(new Random().nextLong(), new SplittableRandom().nextLong(), list);
    };

    assertEquals(TinyMachine.play(draw), TinyMachine.play(draw));
  }

  @Test
  @Promise({"29.6", "29.19"})
  void ordinaryThreadsDrawDifferentRandomNumbers() throws Exception {
    TinyMachine.play(() -> null);

    assertEquals(2, TinyMachine.runOutside(UUID::randomUUID).stream().distinct().count());
    assertEquals(2, TinyMachine.runOutside(() -> ThreadLocalRandom.current().nextLong()).stream().distinct().count());
    assertEquals(2, TinyMachine.runOutside(Math::random).stream().distinct().count());
    assertEquals(2, TinyMachine.runOutside(() -> new SecureRandom().nextLong()).stream().distinct().count());
  }

  @Test
  @Promise("29.6")
  void socketsOfSimulatedThreadAreSimulated() throws Exception {
    var failure = assertThrows(IOException.class, () -> TinyMachine.play(() -> {
      try (var socket = new Socket()) {
        socket.connect(new InetSocketAddress("127.0.0.1", 1));
      }
      return null;
    }));

    assertEquals("a simulated socket does not do this: connect", failure.getMessage());
    assertThrows(IOException.class, () -> TinyMachine.play(() -> new ServerSocket(0)));
    for (var port : TinyMachine.runOutside(() -> {
      try (var socket = new ServerSocket(0)) {
        return socket.getLocalPort();
      }
    })) assertTrue(port > 0);
  }

  @Test
  @Promise("29.7")
  void socketTypesWithoutSimulationAreRefused() throws Exception {
    checkRefused("a channel or selector of java.nio", SocketChannel::open);
    checkRefused("a channel or selector of java.nio", Selector::open);
    checkRefused("a channel or selector of java.nio", HttpClient::newHttpClient);
    checkRefused("an asynchronous channel of java.nio", AsynchronousSocketChannel::open);
    checkRefused("a datagram socket", () -> new DatagramSocket(0));
    for (var port : TinyMachine.runOutside(() -> {
      try (var socket = new DatagramSocket(0);
          var channel = ServerSocketChannel.open();
          var selector = Selector.open()) {
        return channel.isOpen() && selector.isOpen() ? socket.getLocalPort() : 0;
      }
    })) assertTrue(port > 0);
  }

  private static void checkRefused(String kind, Callable<?> open) {
    var failure = assertThrows(UnsupportedOperationException.class, () -> TinyMachine.play(open));
    assertTrue(
        failure.getMessage().startsWith("the simulated thread 'main' opens " + kind + " at io.fibry.simulation."),
        failure.getMessage());
    assertTrue(failure.getMessage().endsWith("use java.net.Socket, or keep it out of the simulation"),
        failure.getMessage());
  }

  @Test
  void mailboxMadeBySimulatedThreadGetsCapacityFromSimulation() throws Exception {
    assertEquals("bounded(1, REJECT)", TinyMachine.play(() -> Mailbox.bounded(8, Overflow.REJECT).toString()));
    for (var mailbox : TinyMachine.runOutside(() -> Mailbox.bounded(8, Overflow.REJECT).toString()))
      assertEquals("bounded(8, REJECT)", mailbox);
  }

  @Test
  void scheduledTaskRunsOnSimulatedThreadAndClock() throws Exception {
    assertTrue(TinyMachine.play(() -> {
      var isReached = new CompletableFuture<Boolean>();
      TinyMachine.machine()
          .schedule(() -> isReached.complete(TinyMachine.isSimulated() && System.currentTimeMillis() < YEAR_2030), 1);
      return isReached.get();
    }));
  }
}
