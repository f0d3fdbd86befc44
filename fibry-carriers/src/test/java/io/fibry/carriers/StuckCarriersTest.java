package io.fibry.carriers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.support.Child;
import io.fibry.support.Patience;
import java.io.FileInputStream;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Handlers that hold their carriers: the watch must start spare carriers, and retire them. */
class StuckCarriersTest {
  private final ActorScope scope = ActorSystem.openScope("stuck");
  private final CarrierPool pool = poolOfActors();

  @TempDir
  Path folder;

  @AfterEach
  void close() {
    scope.close();
  }

  private static int processors() {
    return Runtime.getRuntime().availableProcessors();
  }

  /** Counts the carriers of the actors here. Other tests may have started pools of their own. */
  private int carrierCount() {
    return pool.carriers().length;
  }

  private CarrierPool poolOfActors() {
    return scope.anonymous().newActorWithReturn((Integer n) -> ((Carrier) JvmAccess.currentCarrier()).pool)
        .ask(1, Patience.LONG);
  }

  private void assertOthersWork() {
    var actor = scope.anonymous().newActorWithReturn((Integer n) -> n * n);
    for (int i = 0; i < 10; i++) assertEquals(i * i, actor.ask(i, Patience.LONG));
  }

  @Test
  void otherActorsWorkWhileHandlersLoopEndlessly() {
    var stop = new AtomicBoolean();
    int loops = 2 * processors();
    var looping = new CountDownLatch(loops);
    try {
      for (int i = 0; i < loops; i++) scope.anonymous().newActor((Integer n) -> {
        looping.countDown();
        while (!stop.get()) Thread.onSpinWait();
      }).sendMessage(1);
      Patience.await(looping);

      assertOthersWork();
    } finally {
      stop.set(true);
    }
    Patience.eventually("spare carriers do not retire", () -> {
      assertOthersWork();
      return carrierCount() == processors();
    });
  }

  @Test
  void sleepingHandlersWakeWhileCarriersAreStuck() {
    var stop = new AtomicBoolean();
    var sleeping = new CountDownLatch(100);
    var done = new CountDownLatch(100);
    try {
      for (int i = 0; i < 100; i++) scope.anonymous().newActor((Integer n) -> {
        sleeping.countDown();
        LockSupport.parkNanos(50_000_000);
        done.countDown();
      }).sendMessage(1);
      Patience.await(sleeping);
      for (int i = 0; i < processors(); i++) scope.anonymous().newActor((Integer n) -> {
        while (!stop.get()) Thread.onSpinWait();
      }).sendMessage(1);

      Patience.await(done);
    } finally {
      stop.set(true);
    }
  }

  @Test
  void fileReadsDelayNoOtherActors() throws Exception {
    var file = Files.writeString(folder.resolve("data"), "x".repeat(100_000));
    int count = 1_000;
    var done = new CountDownLatch(count);
    for (int i = 0; i < count; i++) scope.anonymous().newActor((Integer n) -> {
      assertEquals(100_000, Files.readAllBytes(file).length);
      done.countDown();
    }).sendMessage(1);

    assertOthersWork();
    Patience.await(done);
  }

  /** A read of a named pipe blocks in native code, as a read of a slow disk does. */
  @Test
  void blockedNativeReadsDelayNoOtherActors() throws Exception {
    var pipe = folder.resolve("pipe");
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/mkfifo")), "no mkfifo");
    try (var maker = Child.start(List.of("/usr/bin/mkfifo", pipe.toString()))) {
      maker.awaitExit(0);
    }
    int count = 20;
    var read = new AtomicInteger();
    try (var pipeOfBothSides = new RandomAccessFile(pipe.toFile(), "rw")) { // so that no open of the pipe blocks
      for (int i = 0; i < count; i++) scope.anonymous().newActor((Integer n) -> {
        try (var in = new FileInputStream(pipe.toFile())) {
          if (in.read() >= 0) read.incrementAndGet();
        }
      }).sendMessage(1);

      assertOthersWork();
      Patience.progress(this::carrierCount, () -> {
        assertOthersWork();
        return carrierCount() > processors();
      });
      pipeOfBothSides.write(new byte[count]);
      Patience.progress(read::get, () -> read.get() == count);
    }
  }

  /** A class whose initializer waits until the test lets it end. */
  static final class SlowInitializer {
    static final CountDownLatch STARTED = new CountDownLatch(1);

    static final class Loaded {
      static final int VALUE;

      static {
        STARTED.countDown();
        while (!mayEnd.get()) LockSupport.parkNanos(1_000_000);
        VALUE = Integer.parseInt("7");
      }
    }

    static final AtomicBoolean mayEnd = new AtomicBoolean();
  }

  @Test
  void otherActorsWorkWhileClassInitializersSleep() {
    int count = 4 * processors();
    var values = new AtomicInteger();
    var actors = new ArrayList<Runnable>();
    for (int i = 0; i < count; i++) {
      var actor = scope.anonymous().newActor((Integer n) -> {
        values.addAndGet(SlowInitializer.Loaded.VALUE);
      });
      actors.add(() -> actor.sendMessage(1));
    }
    actors.forEach(Runnable::run);
    Patience.await(SlowInitializer.STARTED);

    assertOthersWork();
    SlowInitializer.mayEnd.set(true);
    Patience.progress(values::get, () -> values.get() == 7 * count);
    assertTrue(carrierCount() <= processors() + CarrierWatch.MAX_SPARES);
  }
}
