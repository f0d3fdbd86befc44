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
import io.fibry.Handler;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordedLetters;
import io.fibry.testing.Variants;
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
  private final RecordedLetters letters = new RecordedLetters();
  private final ActorScope scope =
      ActorSystem.openScope("pipes", o -> o.withDeadLetterListener(letters).withKillGrace(Duration.ofMillis(200)));
  private final List<Object> results = Collections.synchronizedList(new ArrayList<>());

  static Set<String> strategies() {
    return Variants.STRATEGIES.keySet();
  }

  @AfterEach
  void closeScopeAndCheckReport() {
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
  void messagesGoThroughAllStagesInOrder(String strategy) {
    var builder = scope.anonymous().strategy(Variants.STRATEGIES.get(strategy));
    // these executors have two threads, which are too few if several stages wait for capacity
    if (strategy.equals("of(fixed pool)") || strategy.equals("of(ForkJoinPool)"))
      builder = builder.mailbox(Mailbox.unbounded());
    var input =
        Pipeline.of(builder, (Integer n) -> n + 1).withCapacity(1000).then(n -> n * 2).then(n -> "n" + n)
            .into(results::add);

    IntStream.range(0, 500).forEach(input::sendMessage);
    input.close();

    assertEquals(IntStream.range(0, 500).mapToObj(n -> (Object) ("n" + (n + 1) * 2)).toList(), results);
    assertEquals(List.of(), letters.all);
  }

  @Promise("22.1")
  @Test
  void stagesWorkAtTheSameTime() {
    var barrier = new CyclicBarrier(2);
    var input = Pipeline.of(scope.anonymous(), (Integer n) -> n == 2 ? awaitBarrier(barrier, n) : n)
        .then(n -> n == 1 ? awaitBarrier(barrier, n) : n).into(results::add);

    input.sendMessage(1); // message 1 waits in the second stage until message 2 is in the first stage
    input.sendMessage(2);
    input.close();

    assertEquals(List.of(1, 2), results);
    assertEquals(List.of(), letters.all);
  }

  private static int awaitBarrier(CyclicBarrier barrier, int n) throws Exception {
    barrier.await();
    return n;
  }

  @Promise("22.2")
  @Test
  void parallelStageKeepsOrderOfMessages() {
    var input = Pipeline.of(scope.anonymous(), n -> n).then(4, PipelineTest::pass).into(results::add);
    var gates = IntStream.range(0, 4).mapToObj(i -> new Gate()).toList();
    gates.forEach(input::sendMessage);
    gates.forEach(gate -> Patience.await(gate.entered)); // all four are handled at the same time

    gates.reversed().forEach(Gate::open);
    input.close();

    assertEquals(gates, results);
  }

  @Promise("22.2")
  @Test
  void unorderedStagePassesQuickMessagesBeforeSlowMessage() {
    var input = Pipeline.of(scope.anonymous(), n -> n).thenUnordered(3, PipelineTest::pass).into(results::add);
    var slowMessage = new Gate();

    input.sendMessage(slowMessage);
    Patience.await(slowMessage.entered);
    input.sendMessage(1);
    input.sendMessage(2);

    Patience.eventually(() -> results.size() == 2);
    slowMessage.open();
    input.close();
    assertEquals(slowMessage, results.getLast());
  }

  @Promise("22.1")
  @ParameterizedTest
  @MethodSource("kinds")
  void slowStageBlocksSenders(Kind kind) {
    var gate = new Gate();
    var input = kind.addStage()
        .apply(Pipeline.of(scope.anonymous().mailbox(Mailbox.bounded(2, Overflow.BLOCK)), n -> n).withCapacity(2))
        .into((Object n) -> gate.pass());
    var sentCount = new AtomicInteger();

    var sender = Patience.startFiber(() -> IntStream.range(0, 1000).forEach(n -> {
      input.sendMessage(n);
      sentCount.incrementAndGet();
    }));
    Patience.await(gate.entered);
    Patience.awaitParked(sender);

    assertTrue(sentCount.get() <= kind.maxSent(), "sent " + sentCount);
    gate.open();
    Patience.awaitEnd(sender);
    input.close();
    assertEquals(1000, sentCount.get());
  }

  record Kind(String label, Function<Pipeline<Object, Object>, Pipeline<Object, Object>> addStage, int maxSent) {
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
  void failedMessageIsDeadLetterAndOtherMessagesContinue(Kind kind) {
    var builder = scope.named("orders").onFailure(FailurePolicy.resume().withoutLog());
    var firstStage = Pipeline.of(builder, (Object n) -> n);
    var input = kind.addStage().apply(firstStage).then(n -> n).into(results::add);
    var failingPipeline = kind.label.equals("one") ? firstStage.then(PipelineTest::requireOdd)
        : kind.label.equals("ordered") ? firstStage.then(3, PipelineTest::requireOdd)
            : firstStage.thenUnordered(3, PipelineTest::requireOdd);
    input.close();
    var failingInput = failingPipeline.into(results::add);

    IntStream.range(0, 10).forEach(failingInput::sendMessage);
    failingInput.close();

    assertEquals(Set.of(1, 3, 5, 7, 9), Set.copyOf(results));
    assertEquals(Set.of(0, 2, 4, 6, 8), Set.copyOf(letters.messages(Reason.FAILED)));
    assertTrue(letters.all.getFirst().actor().startsWith("orders/2"), letters.all.toString());
    assertEquals("even", letters.all.getFirst().cause().orElseThrow().getMessage());
  }

  private static Object requireOdd(Object n) {
    if ((int) n % 2 == 0) throw new IllegalStateException("even");
    return n;
  }

  @Promise("22.2")
  @Test
  void retriedMessageKeepsItsPosition() {
    var tries = new AtomicInteger();
    var input =
        Pipeline.of(scope.anonymous().onFailure(FailurePolicy.resume().withRetries(3).withoutLog()), (Integer n) -> n)
            .then(4, n -> {
              if (n == 2 && tries.incrementAndGet() < 3) throw new IllegalStateException("not yet");
              return n;
            }).into(results::add);

    IntStream.range(0, 20).forEach(input::sendMessage);
    input.close();

    assertEquals(IntStream.range(0, 20).boxed().toList(), results);
    assertEquals(3, tries.get());
  }

  @Test
  void objectSentRepeatedlyIsHandledEachTimeInSendOrder() {
    var input =
        Pipeline.of(scope.anonymous().onFailure(FailurePolicy.resume().withRetries(1).withoutLog()), (String n) -> n)
            .then(3, n -> n + "!").into(results::add);

    for (int i = 0; i < 30; i++) input.sendMessage(i % 3 == 0 ? "a" : "b");
    input.close();

    assertEquals(IntStream.range(0, 30).mapToObj(i -> i % 3 == 0 ? "a!" : "b!").toList(), results);
  }

  @Promise("22.3")
  @Test
  void stageStoppedByItsPolicyEndsThePipeline() {
    var stopPolicy = FailurePolicy.stop().withoutLog();
    var input = Pipeline.of(scope.anonymous().onFailure(stopPolicy), (Integer n) -> n).then(n -> {
      if (n == 2) throw new IllegalStateException("two");
      return n;
    }).into(results::add);

    input.sendMessage(1);
    input.sendMessage(2);

    Patience.awaitEnd(input::waitForExit);
    assertEquals(List.of(1), results);
    assertFalse(input.sendMessage(3));
  }

  @Test
  void nullAnswerOfStageFailsMessage() {
    var input =
        Pipeline.of(scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()), (Integer n) -> n == 1 ? null : n)
            .into(results::add);

    input.sendMessage(1);
    input.sendMessage(2);
    input.close();

    assertEquals(List.of(2), results);
    assertEquals("stage 1 of the pipeline answered null to java.lang.Integer; let it answer an Optional",
        letters.all.getFirst().cause().orElseThrow().getMessage());
  }

  @Promise("22.4")
  @Test
  void askExitDrainsLaterStagesButNotMailboxOfFirstStage() {
    var input = Pipeline.of(scope.anonymous(), PipelineTest::pass).then(2, n -> n).into(results::add);
    Gate.occupy(input);
    input.sendMessage("waits");

    input.askExit();
    Gate.openAll();

    Patience.awaitEnd(input::waitForExit);
    assertEquals(1, results.size());
    assertEquals(List.of("waits"), letters.messages(Reason.UNDELIVERED));
  }

  @Promise("22.4")
  @Test
  void killOfPipelineInterruptsLaterStagesAfterKillGrace() {
    var interruptLatch = new CountDownLatch(1);
    var entryLatch = new CountDownLatch(1);
    var input = Pipeline.of(scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()), (Integer n) -> n)
        .into(n -> {
          entryLatch.countDown();
          try {
            new CountDownLatch(1).await();
          } catch (InterruptedException expected) {
            interruptLatch.countDown();
          }
        });
    input.sendMessage(1);
    Patience.await(entryLatch);

    input.kill();

    Patience.awaitEnd(input::waitForExit);
    Patience.await(interruptLatch);
    assertInstanceOf(ExitReason.Killed.class, input.onExit().join());
    // the first stage has waited for the other stages
    Patience.eventually(() -> scope.report().unresponsive().isEmpty());
  }

  @Test
  void pipelineOpenedTwiceGivesTwoIndependentPipelines() {
    var pipeline = Pipeline.of(scope.anonymous(), (Integer n) -> n + 1);
    var otherResults = new CopyOnWriteArrayList<Integer>();
    Actor<Integer> firstInput = pipeline.into(results::add);
    Actor<Integer> secondInput = pipeline.into(otherResults::add);

    firstInput.sendMessage(1);
    secondInput.sendMessage(2);
    firstInput.close();
    secondInput.close();

    assertEquals(List.of(2), results);
    assertEquals(List.of(3), otherResults);
  }

  @Test
  void stagesAreNamedByPipelineAndNumber() {
    var threadNames = new CopyOnWriteArrayList<String>();
    Handler.Returning<Integer, Integer> recordThread = n -> {
      threadNames.add(Thread.currentThread().getName());
      return n;
    };
    var input = Pipeline.of(scope.named("orders"), recordThread).then(2, recordThread).thenUnordered(2, recordThread)
        .into(n -> threadNames.add(Thread.currentThread().getName()));

    input.sendMessage(1);
    input.close();

    assertEquals(List.of("orders/1", "orders/2/work/1", "orders/3/1", "orders/4"), threadNames);
  }

  @Test
  void pipelineIsRefusedAndLeavesNoStageIfStageNameIsTaken() {
    scope.named("orders/1").newActor(n -> {});

    assertThrows(IllegalArgumentException.class,
        () -> Pipeline.of(scope.named("orders"), n -> n).then(n -> n).into(n -> {}));

    assertTrue(scope.awaitQuiescence(Patience.LONG));
    assertTrue(scope.find("orders/3", Object.class).isEmpty());
    scope.named("orders/3").newActor(n -> {});
  }

  @Test
  void invalidParallelismAndCapacityAreRefused() {
    var pipeline = Pipeline.of(scope.anonymous(), n -> n);

    assertEquals("a stage that handles 0 messages at once handles none; give at least 1",
        assertThrows(IllegalArgumentException.class, () -> pipeline.then(0, n -> n)).getMessage());
    assertEquals("with capacity for 0 messages no message could pass from stage to stage; give at least 1",
        assertThrows(IllegalArgumentException.class, () -> pipeline.withCapacity(0)).getMessage());
    assertThrows(NullPointerException.class, () -> pipeline.then(null));
    assertThrows(NullPointerException.class, () -> pipeline.into(null));
    assertThrows(NullPointerException.class, () -> Pipeline.of(null, n -> n));
  }

  @Test
  void pipelineOnPlatformThreadsHandlesEachMessageOnce() {
    var input = Pipeline.of(scope.anonymous().strategy(Strategy.THREAD), (Integer n) -> n + 1).then(3, n -> n * 2)
        .thenUnordered(2, n -> n).into(results::add);

    IntStream.range(0, 200).forEach(input::sendMessage);
    input.close();

    assertEquals(200, results.size());
    assertEquals(200, Set.copyOf(results).size());
  }
}
