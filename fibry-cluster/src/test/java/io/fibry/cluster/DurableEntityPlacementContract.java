package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Outcome;
import io.fibry.Request;
import io.fibry.RequestException;
import io.fibry.durable.Durable;
import io.fibry.durable.DurableContext;
import io.fibry.durable.Idempotent;
import io.fibry.durable.RequestStoredException;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Entities;
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

/** Durable entities of several nodes, which share a store. */
abstract class DurableEntityPlacementContract {
  sealed interface Account {}
  record Pay(long cents) implements Account {}
  record Give(String idempotencyKey, long cents) implements Account, Idempotent, Request<Give, Long> {}
  record Sum() implements Account, Request<Sum, Long> {}
  record Send(String to, long cents) implements Account, Request<Send, Long> {}

  private static final Duration CALM = Duration.ofMillis(300);
  private static final Duration LONG = Duration.ofMinutes(5);
  private static final int PARTS = 16;
  private static final int MOVES = Soak.ON ? 4 : 2;
  private static final long PAUSE = Soak.ON ? 0 : 5_000_000; // ns between two requests of an asker
  static final Durable<Account> ACCOUNT =
      Durable.kind("account", Account.class).state(0L).handler(DurableEntityPlacementContract::handle);
  static final Durable<Account> KEPT =
      Durable.kind("kept", Account.class).storeMessages(1_000).state(0L)
          .handler(DurableEntityPlacementContract::handle);

  private final String app;
  private final TestNetwork network;
  private final ActorScope scope = ActorSystem.openScope("durable-homes-test");
  private final List<Cluster> nodes = new ArrayList<>();

  DurableEntityPlacementContract(String app, TestNetwork network) {
    this.app = app;
    this.network = network;
  }

  private static long handle(long cents, Account message, DurableContext<Account> context) {
    return switch (message) {
      case Pay pay -> cents + pay.cents();
      case Give give -> {
        context.reply(give, cents + give.cents());
        yield cents + give.cents();
      }
      case Sum sum -> {
        context.reply(sum, cents);
        yield cents;
      }
      case Send send -> {
        context.sendMessage(ACCOUNT, send.to(), new Pay(send.cents()));
        context.reply(send, cents - send.cents());
        yield cents - send.cents();
      }
    };
  }

  @AfterEach
  void close() {
    scope.close(); // first, so that no home waits for another one to take its parts
    nodes.forEach(Cluster::close);
  }

  private Cluster join(String node) {
    nodes.add(Cluster.join(app, network,
        options -> options.withNode(node).withPartitions(PARTS).withSettleTime(CALM).withScope(scope)));
    return nodes.getLast();
  }

  private Entities<String, Account> home(Cluster node) {
    return node.host(ACCOUNT, scope.anonymous(), LONG);
  }

  private static long nodes(Cluster node) {
    return node.members().stream().filter(one -> one.hosts().contains("account")).count();
  }

  @Test
  void entityStateMovesWithItsEntity() throws Exception {
    home(join("a"));
    var accounts = join("asking").entities(ACCOUNT);
    var end = new AtomicBoolean();
    try (var askers = Executors.newVirtualThreadPerTaskExecutor()) {
      var all = IntStream.range(0, 4).mapToObj(i -> askers.submit(paying(accounts, i, end))).toList();
      for (int i = 0; i < MOVES; i++) {
        var b = join("b" + i);
        var there = home(b);
        Patience.eventually(() -> there.size() > 0);
        b.close();
      }
      end.set(true);
      for (var one : all) Patience.value(one);
    }
  }

  /** Each answer tells of all before it, so nothing was lost, nor was anything handled twice. */
  private static Callable<Long> paying(Entities<String, Account> accounts, int asker, AtomicBoolean end) {
    return () -> {
      long paid = 0;
      for (; !end.get(); paid++)
        for (int i = 0; i < 10; i++) {
          assertEquals(paid + 1, accounts.actor(asker + "-" + i).ask(new Give(asker + "-" + i + "-" + paid, 1)));
          LockSupport.parkNanos(PAUSE);
        }
      return paid;
    };
  }

  @Test
  void answeredMessageSurvivesNodeCrash() {
    home(join("a"));
    var b = join("b");
    home(b);
    var accounts = join("asking").entities(ACCOUNT);
    for (int i = 0; i < 50; i++) assertEquals(i, accounts.actor("k" + i).ask(new Give("first", i)));

    network.end(b);
    nodes.remove(b);

    for (int i = 0; i < 50; i++) {
      var actor = accounts.actor("k" + i);
      assertEquals(i + 1, untilAnswered(() -> actor.ask(new Give("second", 1), Duration.ofSeconds(1))));
      assertEquals(i, actor.ask(new Give("first", i))); // as it was answered before
    }
  }

  private static long untilAnswered(Callable<Long> asking) {
    while (true) try {
      return asking.call();
    } catch (RequestException lost) {
      // the same message again
    } catch (Exception other) {
      throw new AssertionError(other);
    }
  }

  @Test
  void messageSentByTurnReachesActorOnAnotherNode() {
    home(join("a"));
    var b = join("b");
    home(b);
    var accounts = join("asking").entities(ACCOUNT);
    Patience.eventually(() -> nodes(b) == 2);

    for (int i = 0; i < 50; i++) accounts.actor("from").ask(new Send("to" + i, 7));

    for (int i = 0; i < 50; i++) {
      var to = accounts.actor("to" + i);
      Patience.eventually(() -> to.ask(new Sum()) == 7);
    }
    assertEquals(-350, accounts.actor("from").ask(new Sum()));
  }

  @Test
  void sendReturnsTrueOnlyWhenMessageIsStored() {
    var a = join("a");
    var home = a.host(KEPT, scope.anonymous(), LONG);
    var ada = join("asking").entities(KEPT).actor("ada");

    for (int i = 0; i < 100; i++) assertTrue(ada.sendMessage(new Pay(1)));
    assertEquals(100, ada.ask(new Sum()));
    home.close();

    assertFalse(ada.sendMessage(new Pay(1)));
    assertThrows(UnsupportedOperationException.class, () -> ada.sendMessages(List.of(new Pay(1))));
    join("b").host(KEPT, scope.anonymous(), LONG);
    assertEquals(100, ada.ask(new Sum()));
  }

  @Test
  void remoteAskerLearnsThatStoredRequestWillBeDone() {
    var begun = new CountDownLatch(1);
    var gate = new CountDownLatch(1);
    var kind = Durable.kind("held", Account.class).storeMessages(9).state(0L)
        .handler((Long cents, Account message, DurableContext<Account> context) -> {
          if (message instanceof Send) {
            begun.countDown();
            gate.await();
            context.reply((Send) message, cents);
            return cents;
          }
          return handle(cents, message, context);
        });
    join("a").host(kind, scope.anonymous().mailbox(Mailbox.bounded(1, Overflow.REJECT)), LONG);
    var ada = join("asking").entities(kind).actor("ada");
    var held = ada.sendMessageReturn(new Send("nobody", 0));
    Patience.await(begun);
    var waits = ada.sendMessageReturn(new Give("first", 1));
    Patience.eventually(() -> scope.report().queued() == 1);
    var full = new Give("second", 2);

    var failure = assertThrows(UnreachableException.class, () -> ada.ask(full));

    assertEquals(Outcome.WILL_BE_DONE, RequestException.outcomeOf(failure, full), failure::getMessage);
    assertEquals(RequestStoredException.class.getName(),
        assertInstanceOf(RemoteFailureException.class, failure.getCause()).type());
    gate.countDown();
    Patience.value(held);
    Patience.value(waits);
    Patience.eventually(() -> untilAnswered(() -> ada.ask(new Sum())) == 3);
  }

  @Test
  void nodeHostsKindOnlyOnce() {
    var a = join("a");
    home(a).close();
    home(a);

    assertThrows(IllegalStateException.class, () -> home(a));
  }
}
