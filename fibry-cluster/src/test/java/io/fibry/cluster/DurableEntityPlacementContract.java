package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.RequestException;
import io.fibry.RequestOutcome;
import io.fibry.durable.Durable;
import io.fibry.durable.DurableContext;
import io.fibry.durable.Idempotent;
import io.fibry.durable.RequestStoredException;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Entities;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests durable entities on several nodes that share a store. */
abstract class DurableEntityPlacementContract {
  sealed interface Account {}
  record Credit(long cents) implements Account {}
  record Deposit(String idempotencyKey, long cents) implements Account, Idempotent, Request<Deposit, Long> {}
  record Sum() implements Account, Request<Sum, Long> {}
  record Send(String receiver, long cents) implements Account, Request<Send, Long> {}

  private static final Duration SETTLE_TIME = Duration.ofMillis(300);
  private static final Duration IDLE_LIMIT = Duration.ofMinutes(5);
  private static final int PARTITIONS = 16;
  private static final int MOVES = Soak.ON ? 4 : 2;
  private static final long PAUSE = Soak.ON ? 0 : 5_000_000; // ns between two requests of an asker
  static final Durable<Account> ACCOUNT =
      Durable.kind("account", Account.class).state(0L).handler(DurableEntityPlacementContract::handle);
  static final Durable<Account> STORING_ACCOUNT =
      Durable.kind("kept", Account.class).storeMessages(1_000).state(0L)
          .handler(DurableEntityPlacementContract::handle);

  private final String app;
  private final TestNetwork network;
  private final ActorScope scope = ActorSystem.openScope("durable-placement-test");
  private final List<Cluster> nodes = new ArrayList<>();

  DurableEntityPlacementContract(String app, TestNetwork network) {
    this.app = app;
    this.network = network;
  }

  private static long handle(long cents, Account message, DurableContext<Account> context) {
    return switch (message) {
      case Credit credit -> cents + credit.cents();
      case Deposit deposit -> {
        context.reply(deposit, cents + deposit.cents());
        yield cents + deposit.cents();
      }
      case Sum sum -> {
        context.reply(sum, cents);
        yield cents;
      }
      case Send send -> {
        context.sendMessage(ACCOUNT, send.receiver(), new Credit(send.cents()));
        context.reply(send, cents - send.cents());
        yield cents - send.cents();
      }
    };
  }

  @AfterEach
  void close() {
    scope.close(); // first: the nodes then drop their partitions, and do not wait for the next owners
    nodes.forEach(Cluster::close);
  }

  private Cluster join(String node) {
    nodes.add(Cluster.join(app, network,
        options -> options.withNode(node).withPartitions(PARTITIONS).withSettleTime(SETTLE_TIME).withScope(scope)));
    return nodes.getLast();
  }

  private Entities<String, Account> host(Cluster node) {
    return node.host(ACCOUNT, scope.anonymous(), IDLE_LIMIT);
  }

  private static long countHosts(Cluster node) {
    return node.members().stream().filter(member -> member.hosts().contains("account")).count();
  }

  @Test
  void entityStateMovesWithItsEntity() throws Exception {
    host(join("a"));
    var accounts = join("asking").entities(ACCOUNT);
    var stop = new AtomicBoolean();
    try (var askers = Executors.newVirtualThreadPerTaskExecutor()) {
      var depositors = IntStream.range(0, 4)
          .mapToObj(i -> askers.submit(depositUntilStopped(accounts, i, stop))).toList();
      try {
        for (int i = 0; i < MOVES; i++) {
          var b = join("b" + i);
          var accountsOfB = host(b);
          Patience.eventually(() -> accountsOfB.size() > 0);
          b.close();
        }
      } finally { // otherwise the close of the executor waits for the askers
        stop.set(true);
      }
      for (var depositor : depositors) Patience.value(depositor);
    }
  }

  /**
   * Each answer must be the sum of this key's deposits so far. A lost or repeated deposit would
   * make the sum differ.
   */
  private static Callable<Long> depositUntilStopped(Entities<String, Account> accounts, int asker, AtomicBoolean stop) {
    return () -> {
      long deposited = 0;
      for (; !stop.get(); deposited++)
        for (int i = 0; i < 10; i++) {
          var deposit = new Deposit(asker + "-" + i + "-" + deposited, 1);
          assertEquals(deposited + 1, accounts.actor(asker + "-" + i).ask(deposit));
          LockSupport.parkNanos(PAUSE);
        }
      return deposited;
    };
  }

  @Test
  void answeredRequestsKeepEffectAndAnswerAfterNodeCrash() {
    host(join("a"));
    var b = join("b");
    host(b);
    var accounts = join("asking").entities(ACCOUNT);
    for (int i = 0; i < 50; i++) assertEquals(i, accounts.actor("k" + i).ask(new Deposit("first", i)));

    network.crash(b);
    nodes.remove(b);

    for (int i = 0; i < 50; i++) {
      var actor = accounts.actor("k" + i);
      assertEquals(i + 1, untilAnswered(() -> actor.ask(new Deposit("second", 1), Duration.ofSeconds(1))));
      assertEquals(i, actor.ask(new Deposit("first", i))); // the same answer as before
    }
  }

  /** Sends the same request until it is answered. */
  private static long untilAnswered(Callable<Long> request) {
    return Patience.valueDespite(RequestException.class, request);
  }

  @Test
  void messageSentByTurnReachesActorOnAnotherNode() {
    host(join("a"));
    var b = join("b");
    host(b);
    var accounts = join("asking").entities(ACCOUNT);
    Patience.eventually(() -> countHosts(b) == 2);

    for (int i = 0; i < 50; i++) accounts.actor("from").ask(new Send("to" + i, 7));

    for (int i = 0; i < 50; i++) {
      var receiver = accounts.actor("to" + i);
      Patience.eventually(() -> receiver.ask(new Sum()) == 7);
    }
    assertEquals(-350, accounts.actor("from").ask(new Sum()));
  }

  @Test
  void sendReturnsTrueOnlyWhenMessageIsStored() {
    var a = join("a");
    var entities = a.host(STORING_ACCOUNT, scope.anonymous(), IDLE_LIMIT);
    var ada = join("asking").entities(STORING_ACCOUNT).actor("ada");

    for (int i = 0; i < 100; i++) assertTrue(ada.sendMessage(new Credit(1)));
    assertEquals(100, ada.ask(new Sum()));
    entities.close();

    assertFalse(ada.sendMessage(new Credit(1)));
    assertThrows(UnsupportedOperationException.class, () -> ada.sendMessages(List.of(new Credit(1))));
    join("b").host(STORING_ACCOUNT, scope.anonymous(), IDLE_LIMIT);
    assertEquals(100, ada.ask(new Sum()));
  }

  @Test
  void storedRequestToFullMailboxHasOutcomeWillBeDone() {
    var handlerStarted = new CountDownLatch(1);
    var gate = new CountDownLatch(1);
    var kind = Durable.kind("held", Account.class).storeMessages(9).state(0L)
        .handler((Long cents, Account message, DurableContext<Account> context) -> {
          if (message instanceof Send) {
            handlerStarted.countDown();
            gate.await();
            context.reply((Send) message, cents);
            return cents;
          }
          return handle(cents, message, context);
        });
    join("a").host(kind, scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.REJECT)), IDLE_LIMIT);
    var ada = join("asking").entities(kind).actor("ada");
    var pausedRequest = ada.sendMessageReturn(new Send("nobody", 0));
    Patience.await(handlerStarted);
    var waitingRequest = ada.sendMessageReturn(new Deposit("first", 1));
    Patience.eventually(() -> scope.report().queued() == 1);
    var overflowingRequest = new Deposit("second", 2);

    var failure = assertThrows(UnavailableException.class, () -> ada.ask(overflowingRequest));

    assertEquals(RequestOutcome.WILL_BE_DONE, RequestException.outcomeOf(failure, overflowingRequest),
        failure::getMessage);
    assertEquals(RequestStoredException.class.getName(),
        assertInstanceOf(RemoteFailureException.class, failure.getCause()).type());
    gate.countDown();
    Patience.value(pausedRequest);
    Patience.value(waitingRequest);
    Patience.eventually(() -> untilAnswered(() -> ada.ask(new Sum())) == 3);
  }

  @Test
  void sendReturnsFalseWhenOwnerRefusesToStoreMessage() {
    var gate = new CountDownLatch(1);
    var kind = Durable.kind("short", Account.class).storeMessages(1).state(0L)
        .handler((Long cents, Account message, DurableContext<Account> context) -> {
          gate.await();
          return handle(cents, message, context);
        });
    join("a").host(kind, scope.anonymous(), IDLE_LIMIT);
    var ada = join("asking").entities(kind).actor("ada");
    assertTrue(ada.sendMessage(new Credit(1)));
    try (var log = new Logged()) {
      assertFalse(ada.sendMessage(new Credit(2)));

      assertFalse(log.lines("'short/ada' has not confirmed that it has stored the message: too many").isEmpty(),
          log::text);
    }
    gate.countDown();
    Patience.eventually(() -> untilAnswered(() -> ada.ask(new Sum())) == 1);
  }

  @Test
  void nodeRefusesToHostKindThatItAlreadyHosts() {
    var a = join("a");
    host(a).close();
    host(a);

    assertThrows(IllegalStateException.class, () -> host(a));
  }
}
