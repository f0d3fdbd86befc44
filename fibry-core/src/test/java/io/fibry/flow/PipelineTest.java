package io.fibry.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.DeadLetter.Reason;
import io.fibry.ExitReason;
import io.fibry.FailurePolicy;
import io.fibry.Gate;
import io.fibry.Handler;
import io.fibry.Letters;
import io.fibry.Promise;
import io.fibry.Strategy;
import io.fibry.Variants;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class PipelineTest {
  private final Letters letters = new Letters();
  private final ActorScope scope =
      ActorSystem.openScope("pipes", o -> o.withDeadLetters(letters).withKillGrace(Duration.ofMillis(200)));
  private final List<Object> out = Collections.synchronizedList(new ArrayList<>());

  static Set<String> strategies() {
    return Variants.STRATEGIES.keySet();
  }

  @AfterEach
  void nothingIsLeft() {
    Gate.openAll();

    var report = scope.closeWithin(Patience.LONG);

    assertEquals(List.of(), report.unresponsive());
    assertEquals(0, report.queued());
  }

  private static Object pass(Object message) throws InterruptedException {
    if (message instanceof Gate gate) gate.pass();
    return message;
  }

  @Promise("22.4")
  @ParameterizedTest
  @MethodSource("strategies")
  void allGoThroughAllStagesInOrder(String strategy) {
    var builder = scope.anonymous().strategy(Variants.STRATEGIES.get(strategy));
    // two threads, and stages that wait for room
    if (strategy.equals("of(fixed pool)") || strategy.equals("of(ForkJoinPool)"))
      builder = builder.mailbox(Mailbox.unbounded());
    var in =
        Pipeline.of(builder, (Integer n) -> n + 1).withCapacity(1000).then(n -> n * 2).then(n -> "n" + n)
            .into(out::add);

    IntStream.range(0, 500).forEach(in::sendMessage);
    in.close();

    assertEquals(IntStream.range(0, 500).mapToObj(n -> (Object) ("n" + (n + 1) * 2)).toList(), out);
    assertEquals(List.of(), letters.all);
  }

  @Promise("22.1")
  @Test
  void stagesWorkAtTheSameTime() {
    var both = new CyclicBarrier(2);
    var in = Pipeline.of(scope.anonymous(), (Integer n) -> n == 2 ? met(both, n) : n)
        .then(n -> n == 1 ? met(both, n) : n).into(out::add);

    in.sendMessage(1); // in the second stage it meets the other, which is in the first
    in.sendMessage(2);
    in.close();

    assertEquals(List.of(1, 2), out);
    assertEquals(List.of(), letters.all);
  }

  private static int met(CyclicBarrier both, int n) throws Exception {
    both.await();
    return n;
  }

  @Promise("22.2")
  @Test
  void aParallelStageKeepsTheOrder() {
    var in = Pipeline.of(scope.anonymous(), n -> n).then(4, PipelineTest::pass).into(out::add);
    var gates = IntStream.range(0, 4).mapToObj(i -> new Gate()).toList();
    gates.forEach(in::sendMessage);
    gates.forEach(gate -> Patience.await(gate.entered)); // four at once

    gates.reversed().forEach(Gate::open);
    in.close();

    assertEquals(gates, out);
  }

  @Promise("22.2")
  @Test
  void anUnorderedStagePassesOnWhatIsReadyFirst() {
    var in = Pipeline.of(scope.anonymous(), n -> n).thenUnordered(3, PipelineTest::pass).into(out::add);
    var slow = new Gate();

    in.sendMessage(slow);
    Patience.await(slow.entered);
    in.sendMessage(1);
    in.sendMessage(2);

    Patience.eventually(() -> out.size() == 2);
    slow.open();
    in.close();
    assertEquals(slow, out.getLast());
  }

  @Promise("22.1")
  @ParameterizedTest
  @MethodSource("kinds")
  void aSlowStageHoldsBackThoseWhoSend(Kind kind) {
    var slow = new Gate();
    var in = kind.then()
        .apply(Pipeline.of(scope.anonymous().mailbox(Mailbox.bounded(2, Overflow.BLOCK)), n -> n).withCapacity(2))
        .into((Object n) -> slow.pass());
    var sent = new AtomicInteger();

    var sender = Patience.startFiber(() -> IntStream.range(0, 1000).forEach(n -> {
      in.sendMessage(n);
      sent.incrementAndGet();
    }));
    Patience.await(slow.entered);
    Patience.parked(sender);

    assertTrue(sent.get() <= kind.most(), "sent " + sent);
    slow.open();
    Patience.joined(sender);
    in.close();
    assertEquals(1000, sent.get());
  }

  record Kind(String label, Function<Pipeline<Object, Object>, Pipeline<Object, Object>> then, int most) {
    @Override
    public String toString() {
      return label;
    }
  }

  static List<Kind> kinds() {
    return List.of(new Kind("one", p -> p.then(n -> n), 2 + 1 + 2 + 1 + 2 + 1),
        new Kind("ordered", p -> p.then(3, n -> n), 2 + 1 + 2 + 1 + 3 + 1 + 2 + 1),
        new Kind("unordered", p -> p.thenUnordered(3, n -> n), 2 + 1 + 2 + 3 + 2 + 1));
  }

  @Promise("22.3")
  @ParameterizedTest
  @MethodSource("kinds")
  void failureIsDeadLetterOfItsStageAndOtherMessagesGoOn(Kind kind) {
    var builder = scope.named("orders").onFailure(FailurePolicy.resume().withoutLog());
    var before = Pipeline.of(builder, (Object n) -> n);
    var in = kind.then().apply(before).then(n -> n).into(out::add);
    var failing = kind.label.equals("one") ? before.then(PipelineTest::odd)
        : kind.label.equals("ordered") ? before.then(3, PipelineTest::odd) : before.thenUnordered(3, PipelineTest::odd);
    in.close();
    var odd = failing.into(out::add);

    IntStream.range(0, 10).forEach(odd::sendMessage);
    odd.close();

    assertEquals(Set.of(1, 3, 5, 7, 9), Set.copyOf(out));
    assertEquals(Set.of(0, 2, 4, 6, 8), Set.copyOf(letters.messages(Reason.FAILED)));
    assertTrue(letters.all.getFirst().actor().startsWith("orders/2"), letters.all.toString());
    assertEquals("even", letters.all.getFirst().cause().orElseThrow().getMessage());
  }

  private static Object odd(Object n) {
    if ((int) n % 2 == 0) throw new IllegalStateException("even");
    return n;
  }

  @Promise("22.2")
  @Test
  void retriedMessageKeepsItsTurn() {
    var tries = new AtomicInteger();
    var in =
        Pipeline.of(scope.anonymous().onFailure(FailurePolicy.resume().withRetries(3).withoutLog()), (Integer n) -> n)
            .then(4, n -> {
              if (n == 2 && tries.incrementAndGet() < 3) throw new IllegalStateException("not yet");
              return n;
            }).into(out::add);

    IntStream.range(0, 20).forEach(in::sendMessage);
    in.close();

    assertEquals(IntStream.range(0, 20).boxed().toList(), out);
    assertEquals(3, tries.get());
  }

  @Test
  void sameObjectMayBeSentAgain() {
    var in =
        Pipeline.of(scope.anonymous().onFailure(FailurePolicy.resume().withRetries(1).withoutLog()), (String n) -> n)
            .then(3, n -> n + "!").into(out::add);

    for (int i = 0; i < 30; i++) in.sendMessage(i % 3 == 0 ? "a" : "b");
    in.close();

    assertEquals(IntStream.range(0, 30).mapToObj(i -> i % 3 == 0 ? "a!" : "b!").toList(), out);
  }

  @Promise("22.3")
  @Test
  void aStageThatItsPolicyStopsEndsThePipeline() {
    var stop = FailurePolicy.stop().withoutLog();
    var in = Pipeline.of(scope.anonymous().onFailure(stop), (Integer n) -> n).then(n -> {
      if (n == 2) throw new IllegalStateException("two");
      return n;
    }).into(out::add);

    in.sendMessage(1);
    in.sendMessage(2);

    Patience.ended(in::waitForExit);
    assertEquals(List.of(1), out);
    assertFalse(in.sendMessage(3));
  }

  @Test
  void anAnswerOfNullIsAFailure() {
    var in =
        Pipeline.of(scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()), (Integer n) -> n == 1 ? null : n)
            .into(out::add);

    in.sendMessage(1);
    in.sendMessage(2);
    in.close();

    assertEquals(List.of(2), out);
    assertEquals("stage 1 of the pipeline answered null to java.lang.Integer; let it answer an Optional",
        letters.all.getFirst().cause().orElseThrow().getMessage());
  }

  @Promise("22.4")
  @Test
  void askExitLeavesMailboxOfFirstStageAndDrainsOtherStages() {
    var in = Pipeline.of(scope.anonymous(), PipelineTest::pass).then(2, n -> n).into(out::add);
    Gate.occupy(in);
    in.sendMessage("waits");

    in.askExit();
    Gate.openAll();

    Patience.ended(in::waitForExit);
    assertEquals(1, out.size());
    assertEquals(List.of("waits"), letters.messages(Reason.UNDELIVERED));
  }

  @Promise("22.4")
  @Test
  void killEndsTheLaterStagesTooAfterTheGrace() {
    var interrupted = new CountDownLatch(1);
    var stuck = new CountDownLatch(1);
    var in = Pipeline.of(scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()), (Integer n) -> n).into(n -> {
      stuck.countDown();
      try {
        new CountDownLatch(1).await();
      } catch (InterruptedException expected) {
        interrupted.countDown();
      }
    });
    in.sendMessage(1);
    Patience.await(stuck);

    in.kill();

    Patience.ended(in::waitForExit);
    Patience.await(interrupted);
    assertInstanceOf(ExitReason.Killed.class, in.onExit().join());
    // the first waited for the others
    Patience.eventually(() -> scope.report().unresponsive().isEmpty());
  }

  @Test
  void pipelineOpensManyTimes() {
    var pipeline = Pipeline.of(scope.anonymous(), (Integer n) -> n + 1);
    var other = new CopyOnWriteArrayList<Integer>();
    Actor<Integer> one = pipeline.into(out::add);
    Actor<Integer> two = pipeline.into(other::add);

    one.sendMessage(1);
    two.sendMessage(2);
    one.close();
    two.close();

    assertEquals(List.of(2), out);
    assertEquals(List.of(3), other);
  }

  @Test
  void stagesBearTheNameAndTheirNumber() {
    var threads = new CopyOnWriteArrayList<String>();
    Handler.Returning<Integer, Integer> who = n -> {
      threads.add(Thread.currentThread().getName());
      return n;
    };
    var in = Pipeline.of(scope.named("orders"), who).then(2, who).thenUnordered(2, who)
        .into(n -> threads.add(Thread.currentThread().getName()));

    in.sendMessage(1);
    in.close();

    assertEquals(List.of("orders/1", "orders/2/work/1", "orders/3/1", "orders/4"), threads);
  }

  @Test
  void aNameThatIsTakenOpensNothing() {
    scope.named("orders/1").newActor(n -> {});

    assertThrows(IllegalArgumentException.class,
        () -> Pipeline.of(scope.named("orders"), n -> n).then(n -> n).into(n -> {}));

    assertTrue(scope.awaitQuiescence(Patience.LONG));
    assertTrue(scope.find("orders/3", Object.class).isEmpty());
    scope.named("orders/3").newActor(n -> {});
  }

  @Test
  void badNumbersAreRefused() {
    var pipeline = Pipeline.of(scope.anonymous(), n -> n);

    assertEquals("a stage that handles 0 messages at once handles none; give at least 1",
        assertThrows(IllegalArgumentException.class, () -> pipeline.then(0, n -> n)).getMessage());
    assertEquals("with room for 0 messages none could go from stage to stage; give at least 1",
        assertThrows(IllegalArgumentException.class, () -> pipeline.withCapacity(0)).getMessage());
    assertThrows(NullPointerException.class, () -> pipeline.then(null));
    assertThrows(NullPointerException.class, () -> pipeline.into(null));
    assertThrows(NullPointerException.class, () -> Pipeline.of(null, n -> n));
  }

  @Test
  void threadsDoIt() {
    var in = Pipeline.of(scope.anonymous().strategy(Strategy.THREAD), (Integer n) -> n + 1).then(3, n -> n * 2)
        .thenUnordered(2, n -> n).into(out::add);

    IntStream.range(0, 200).forEach(in::sendMessage);
    in.close();

    assertEquals(200, out.size());
    assertEquals(200, Set.copyOf(out).size());
  }
}
