package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.spi.BlockBuilder;
import io.fibry.stereotype.Stereotypes;
import io.fibry.time.ManualScheduler;
import io.fibry.time.Scheduler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;

/** Runs the snippets in the Javadoc of io.fibry. */
class JavadocSnippetsTest {
  private final List<Object> printed = new CopyOnWriteArrayList<>();

  private void print(Object line) {
    printed.add(line);
  }

  @Test
  void actorHandlesQueuedMessageBeforeItCloses() {
    // @start region="system"
    try (var greeter = ActorSystem.anonymous().newActor((String name) -> print("Hello " + name))) {
      greeter.sendMessage("World");
    } // handles the queued messages, then ends the actor
    // @end

    assertEquals(List.of("Hello World"), printed);
  }

  @Test
  void actorHandlesMessagesInOrderAndRefusesThemAfterClose() {
    // @start region="actor"
    var sum = new LongAdder();
    Actor<Integer> adder = ActorSystem.anonymous().newActor(n -> sum.add(n));

    List.of(1, 2, 3).forEach(adder::sendMessage);
    adder.execute(() -> print("after these three: " + sum));
    adder.close();

    boolean accepted = adder.sendMessage(4); // false: the actor has ended
    // @end

    assertEquals(List.of("after these three: 6"), printed);
    assertFalse(accepted);
  }

  @Test
  void actorWithReturnAnswersAskAndCompletesFutures() {
    // @start region="openWithReturn"
    ActorWithReturn<Integer, Integer> square = ActorSystem.anonymous().newActorWithReturn(n -> n * n);

    int nine = square.ask(3);
    var sum = square.sendMessageReturn(3).thenCombine(square.sendMessageReturn(4), Integer::sum);
    // @end

    assertEquals(9, nine);
    assertEquals(25, sum.join());
  }

  @Test
  void askReturnsAfterHandlerHasSavedText() {
    // @start region="done"
    record Save(String text) implements Request<Save, Done> {}
    var saved = new ArrayList<String>();
    Actor<Save> notes = ActorSystem.anonymous().newActor((Save save, ActorContext<Save> context) -> {
      saved.add(save.text());
      context.reply(save, Done.DONE);
    });

    notes.ask(new Save("buy milk")); // returns when the text is saved
    // @end

    assertEquals(List.of("buy milk"), saved);
  }

  @Test
  void callerMayCatchCheckedExceptionOfHandler() {
    String text;

    // @start region="declareThrown"
    var reader = ActorSystem.anonymous().onFailure(FailurePolicy.resume().withoutLog())
        .newActorWithReturn((Path file) -> Files.readString(file));
    try {
      Actor.declareThrown(IOException.class);
      text = reader.ask(Path.of("no-such-file"));
    } catch (IOException e) { // without `declareThrown`, this line would not compile
      text = "";
    }
    // @end

    assertEquals("", text);
  }

  @Test
  void sinkRunsCodeOnItsObject() {
    // @start region="sink"
    Sink<TreeSet<String>> names = Stereotypes.fibers().sink(new TreeSet<>());

    names.execAsync(set -> set.add("Ada"));
    int size = names.ask(TreeSet::size);
    // @end

    assertEquals(1, size);
  }

  // @start region="request"
  sealed interface Account {}
  record Deposit(long cents) implements Account {}
  record Balance() implements Account, Request<Balance, Long> {}

  static long balanceAfter(Actor<Account> account, long deposit) {
    account.sendMessage(new Deposit(deposit));
    return account.ask(new Balance()); // ask(new Deposit(5)) does not compile
  }
  // @end

  // @start region="context"
  static class Ledger {
    private long cents;

    void handle(Account message, ActorContext<Account> context) {
      switch (message) {
        case Deposit d -> cents += d.cents();
        case Balance b -> context.reply(b, cents);
      }
    }
  }
  // @end

  @Test
  void askReturnsReplyOfHandlerWithContext() {
    var account = ActorSystem.anonymous().initialState(Ledger::new).newActor(Ledger::handle);

    long balance = balanceAfter(account, 500);

    assertEquals(500, balance);
  }

  record Job(String name, int urgency) {}

  @Test
  void actorsHandleMessagesOfBoundedAndPriorityMailbox() {
    // @start region="mailbox"
    var latest = ActorSystem.anonymous().mailbox(Mailbox.bounded(1, Overflow.DROP_OLDEST))
        .newActor((String price) -> print(price));
    var urgent = ActorSystem.anonymous().mailbox(Mailbox.priority(Comparator.comparing(Job::urgency)))
        .newActor(job -> print(job.name()));
    // @end

    latest.sendMessage("12");
    latest.close();
    urgent.sendMessage(new Job("alarm", 1));
    urgent.close();
    assertEquals(List.of("12", "alarm"), printed);
  }

  @Test
  void actorRunsOnThreadOfItsStrategy() {
    // @start region="strategy"
    Strategy threads = activation -> Thread.ofPlatform().name("own").start(activation);
    var actor =
        ActorSystem.anonymous().strategy(threads).newActorWithReturn((String s) -> Thread.currentThread().getName());
    // @end

    assertEquals("own", actor.ask("thread name?"));
  }

  @Test
  void closeOfScopeHandlesQueuedMessages() {
    var sold = new CopyOnWriteArrayList<String>();

    // @start region="scope"
    try (var shop = ActorSystem.openScope("shop", o -> o.withDrainLimit(Duration.ofMinutes(1)))) {
      var till = shop.named("till").newActor((String item) -> sold.add(item));

      till.sendMessage("three apples");
    } // handles the queued messages, then ends the till
    // @end

    assertEquals(List.of("three apples"), sold);
  }

  @Test
  void stopPolicyEndsActorAndAskerGetsException() {
    // @start region="policy"
    var parser = ActorSystem.anonymous().onFailure(FailurePolicy.stop().withoutLog())
        .newActorWithReturn((String s) -> Integer.parseInt(s));

    // the asker gets the exception of the handler
    assertThrows(NumberFormatException.class, () -> parser.ask("four"));
    parser.waitForExit(); // the policy stops the actor
    // @end

    assertInstanceOf(ExitReason.Failed.class, parser.onExit().join());
  }

  @Test
  void redeliveryHandlesMessageAfterTwoFailures() {
    var tries = new AtomicInteger();
    // @start region="redelivery"
    var redelivery = FailurePolicy.resume().withBackoff(Duration.ofMillis(10), Duration.ofSeconds(1)).withRedelivery(5);
    var mailer = ActorSystem.anonymous().onFailure(redelivery).newActorWithReturn((String letter) -> {
      if (tries.incrementAndGet() < 3) throw new IOException("the server is down");
      return letter + " sent at try " + tries;
    });

    // The letter was sent although two tries failed
    assertEquals("hello sent at try 3", mailer.ask("hello"));
    // @end
  }

  @Test
  void handlerSeesThreadLocalValueOfSender() {
    var user = new ThreadLocal<String>();
    // @start region="propagator"
    class User implements ContextPropagator<String> {
      @Override
      public String capture() { // on the thread of the sender
        return user.get();
      }

      @Override
      public AutoCloseable restore(String captured) { // on the thread of the handler
        user.set(captured);
        return user::remove;
      }
    }
    ActorSystem
        .configure(options -> options.withContextPropagator(new User()).withContextPropagator(ContextPropagator.mdc()));
    // @end
    var oldOptions = ActorScope.Options.defaults();
    try {
      var actor = ActorSystem.anonymous().newActorWithReturn((String message) -> user.get() + " " + message);
      user.set("alice");

      assertEquals("alice asks", actor.ask("asks"));
    } finally {
      ActorSystem.configure(options -> oldOptions);
    }
  }

  @Test
  void handlingOfPropagatorLearnsFailure() {
    // @start region="handling"
    record Outcome(Object message, List<String> outcomes) implements ContextPropagator.Handling {
      @Override
      public void failed(Throwable failure) {
        outcomes.add(message + " failed: " + failure.getMessage());
      }

      @Override
      public void close() {
        outcomes.add(message + " ended");
      }
    }
    // @end
    var outcomes = new CopyOnWriteArrayList<String>();
    var propagator = new ContextPropagator<String>() {
      @Override
      public String capture() {
        return "captured";
      }

      @Override
      public AutoCloseable restore(String captured) {
        return new Outcome("unknown", outcomes);
      }

      @Override
      public AutoCloseable restore(String captured, Actor<?> actor, Object message) {
        return new Outcome(message, outcomes);
      }
    };
    try (var scope = ActorSystem.openScope("shop", options -> options.withContextPropagator(propagator))) {
      scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()).newActor((String order) -> {
        if (order.isEmpty()) throw new IllegalStateException("no order");
      }).sendMessages(List.of("hat", ""));
    }
    assertEquals(List.of("hat ended", " failed: no order", " ended"), outcomes);
  }

  @Test
  void textContextPropagatorRestoresTenantAndWritesItAsText() {
    var tenant = new ThreadLocal<String>();
    // @start region="textPropagator"
    class Tenant implements TextContextPropagator<String> {
      @Override
      public String capture() { // on the thread of the sender
        return tenant.get();
      }

      @Override
      public AutoCloseable restore(String captured) { // on the thread of the handler
        tenant.set(captured);
        return tenant::remove;
      }

      @Override
      public Map<String, String> write(String captured) { // in the process of the sender
        return Map.of("tenant", captured);
      }

      @Override
      public String read(Map<String, String> texts) { // in the process of the handler
        return texts.get("tenant");
      }
    }
    // @end
    try (ActorScope scope = ActorSystem.openScope("shop", options -> options.withContextPropagator(new Tenant()))) {
      var actor = scope.anonymous().newActorWithReturn((String message) -> tenant.get() + " " + message);
      tenant.set("acme");

      assertEquals("acme asks", actor.ask("asks"));
      assertEquals("tenant=acme", BlockBuilder.of(scope.anonymous()).contextText(actor, "asks"));
    }
  }

  @Test
  void runOnceTaskAddsLineToSink() {
    // @start region="stereotypes"
    var log = Stereotypes.fibers().sink(new ArrayList<String>()); // an object as an actor
    // a task as an actor
    Stereotypes.threads().runOnce(() -> log.execAndWait(lines -> lines.add("done"))).waitForExit();
    // @end

    assertEquals(List.of("done"), log.ask(lines -> List.copyOf(lines)));
  }

  @Test
  void systemSchedulerRunsTaskAfterDelay() throws Exception {
    var runs = new CountDownLatch(1);
    // @start region="scheduler"
    Scheduler.Timer timer = Scheduler.system().schedule(Duration.ofMillis(10), () -> runs.countDown());
    // @end

    runs.await();
    assertFalse(timer.cancel());
  }

  @Test
  void taskRunsWhenManualClockReachesItsTime() {
    // @start region="clock"
    var clock = new ManualScheduler();
    var tea = new ArrayList<String>();
    clock.schedule(Duration.ofMinutes(5), () -> tea.add("ready"));

    clock.advance(Duration.ofMinutes(4));
    assertTrue(tea.isEmpty());

    clock.advance(Duration.ofMinutes(1));
    assertEquals(List.of("ready"), tea);
    // @end
  }
}
