package io.fibry.durable;

import io.fibry.durable.CrashMessage.Add;
import io.fibry.durable.CrashMessage.AddOnce;
import io.fibry.durable.CrashMessage.All;
import io.fibry.durable.CrashMessage.Bill;
import io.fibry.durable.CrashMessage.BillOnce;
import io.fibry.durable.CrashMessage.End;
import io.fibry.durable.CrashMessage.Forget;
import io.fibry.durable.CrashMessage.Forward;
import io.fibry.durable.CrashMessage.Forwarded;
import io.fibry.durable.CrashMessage.Order;
import io.fibry.durable.CrashMessage.Remind;
import io.fibry.durable.CrashMessage.Reminded;
import io.fibry.durable.CrashMessage.Tell;
import io.fibry.durable.CrashMessage.Work;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The kinds of actors of a {@link CrashRound}, as a program of one version defines them. The
 * versions have different classes of states and events, but the same kinds.
 */
final class CrashKinds {
  /** Whether accounts store their messages, and after how many events they take a snapshot. */
  record Options(boolean storesMessages, int snapshotEvery) {}

  /** Runs the first step of a message, and records its result. */
  interface FirstStep {
    int run(String op, DurableContext<CrashMessage> context) throws Exception;
  }

  /** Thrown by the handler of a till that is broken, so that a stored message is parked. */
  static final class BrokenException extends RuntimeException {
    private static final long serialVersionUID = 1;
  }

  /** An event of an order. The filler makes segments full, so that they are rewritten. */
  record Ordered(String op, String filler) {}

  private static final int MAX_STORED = 50; // pending messages of an account
  // Together fewer than the messages that may be parked
  private static final int MAX_TILL_MESSAGES = 2;
  private static final int MAX_TILL_ANSWERS = 1;
  private static final String FILLER = "-".repeat(300);

  // ---- versions

  /**
   * A version of the program.
   *
   * @param item the class of events; the state of a till is a list of events, too
   * @param text returns the operations of a state, each followed by "!" if it has a note, and by
   * ";"
   */
  record Version<S, I>(Class<I> item, S initial, BiFunction<S, I, S> after, Function<String, I> newItem,
      Function<S, String> text) {
    int size(S state) {
      return (int) text.apply(state).chars().filter(c -> c == ';').count();
    }

    S with(S state, String op) {
      return after.apply(state, newItem.apply(op));
    }
  }

  /** Items without notes. */
  private static final class Older {
    record Item(String op) {}
    record Items(List<Item> items) {}
  }

  /** Items with notes, which older programs do not know. */
  private static final class Newer {
    record Item(String op, Optional<String> note) {}
    record Items(List<Item> items) {}
  }

  private static final Version<?, ?> OLDER =
      new Version<>(Older.Item.class, new Older.Items(List.of()),
          (Older.Items state, Older.Item item) -> new Older.Items(with(state.items(), item)), Older.Item::new,
          state -> state.items().stream().map(item -> item.op() + ";").collect(Collectors.joining()));

  static final Version<?, ?> NEWER =
      new Version<>(Newer.Item.class, new Newer.Items(List.of()),
          (Newer.Items state, Newer.Item item) -> new Newer.Items(with(state.items(), item)),
          op -> new Newer.Item(op, Optional.of("note of " + op)), state -> state.items().stream()
              .map(item -> item.op() + (item.note().isPresent() ? "!" : "") + ";").collect(Collectors.joining()));

  /**
   * Like OLDER, but snapshots of accounts have another form, which the other versions cannot read.
   */
  private static final Version<?, ?> OTHER =
      new Version<>(Older.Item.class, "", (String state, Older.Item item) -> state + item.op() + ";", Older.Item::new,
          state -> state);

  static final List<Version<?, ?>> VERSIONS = List.of(OLDER, NEWER, OTHER);

  private static <T> List<T> with(List<T> items, T item) {
    var newItems = new ArrayList<>(items);
    newItems.add(item);
    return List.copyOf(newItems);
  }

  // ---- kinds

  private final FirstStep firstStep;
  private final boolean isTillBroken;
  private final boolean storesNotes;
  private final Durable<CrashMessage> account;
  private final Durable<CrashMessage> till;
  private final Durable<CrashMessage> order = Durable.kind("order", CrashMessage.class)
      .events(Ordered.class, 0, (Integer size, Ordered event) -> size + 1).handler(CrashKinds::handleOrder);

  CrashKinds(Version<?, ?> version, Options options, boolean isTillBroken, FirstStep firstStep) {
    this.firstStep = firstStep;
    this.isTillBroken = isTillBroken;
    this.storesNotes = version == NEWER;
    this.account = newAccount(version, options);
    Version<?, ?> tillVersion = version == OTHER ? OLDER : version; // the state of a till has one form
    this.till = newTill(tillVersion);
  }

  /** Accounts, which store events and snapshots. */
  Durable<CrashMessage> account() {
    return account;
  }

  /**
   * Tills, which store their state and their messages, and remember fewer messages than may be
   * parked.
   */
  Durable<CrashMessage> till() {
    return till;
  }

  /** Orders, which store events. An order ends, and begins again. */
  Durable<CrashMessage> order() {
    return order;
  }

  /** Returns whether this version adds a note to each item. */
  boolean storesNotes() {
    return storesNotes;
  }

  private <S, I> Durable<CrashMessage> newAccount(Version<S, I> version, Options options) {
    var builder = Durable.kind("account", CrashMessage.class).snapshotEvery(options.snapshotEvery());
    return (options.storesMessages() ? builder.storeMessages(MAX_STORED) : builder)
        .events(version.item(), version.initial(), version.after())
        .handler((state, message, context) -> handleAccount(version, state, message, context));
  }

  private <S, I> void handleAccount(Version<S, I> version, S state, CrashMessage message,
      EventSourcedContext<S, I, CrashMessage> context) throws Exception {
    switch (message) {
      case Add add -> context.reply(add, persist(version, context, add.op()));
      case AddOnce add -> context.reply(add, persist(version, context, add.op()));
      case Tell tell -> persist(version, context, tell.op());
      case Remind remind -> {
        context.setReminder(remind.op(), new Reminded("r" + remind.op()), Duration.ofMillis(remind.millis()));
        context.reply(remind, persist(version, context, remind.op()));
      }
      case Forget forget -> {
        context.cancelReminder(forget.op());
        boolean hasArrived = CrashMessage.ops(version.text().apply(state)).contains("r" + forget.op());
        context.reply(forget, hasArrived ? 1 : 0);
      }
      case Reminded reminded -> persist(version, context, reminded.op());
      case Forward forward -> {
        context.sendMessage(account, forward.to(), new Forwarded("f" + forward.op()));
        context.reply(forward, persist(version, context, forward.op()));
      }
      case Forwarded forwarded -> persist(version, context, forwarded.op());
      case Work work -> {
        int first = firstStep.run(work.op(), context);
        context.step("second", Integer.class, () -> first);
        context.reply(work, persist(version, context, work.op()));
      }
      case All request -> context.reply(request, version.text().apply(state));
      case Bill bill -> throw new AssertionError(bill);
      case BillOnce bill -> throw new AssertionError(bill);
      case Order order -> throw new AssertionError(order);
      case End end -> throw new AssertionError(end);
    }
  }

  private static <S, I> int persist(Version<S, I> version, EventSourcedContext<S, I, CrashMessage> context, String op) {
    return version.size(context.persist(version.newItem().apply(op)));
  }

  private <S, I> Durable<CrashMessage> newTill(Version<S, I> version) {
    return Durable.kind("till", CrashMessage.class).storeMessages(MAX_TILL_MESSAGES)
        .deduplicate(MAX_TILL_ANSWERS, Duration.ofDays(1)).state(version.initial())
        .handler((state, message, context) -> handleTill(version, state, message, context));
  }

  private <S, I> S handleTill(Version<S, I> version, S state, CrashMessage message,
      DurableContext<CrashMessage> context) throws Exception {
    switch (message) {
      case Bill bill -> {
        charge(bill.op(), context);
        context.reply(bill, version.size(state) + 1);
        return version.with(state, bill.op());
      }
      case BillOnce bill -> {
        charge(bill.op(), context);
        context.reply(bill, version.size(state) + 1);
        return version.with(state, bill.op());
      }
      case All request -> {
        context.reply(request, version.text().apply(state));
        return state;
      }
      default -> throw new AssertionError(message);
    }
  }

  private void charge(String op, DurableContext<CrashMessage> context) throws Exception {
    firstStep.run(op, context);
    if (isTillBroken) throw new BrokenException();
  }

  private static void handleOrder(int size, CrashMessage message,
      EventSourcedContext<Integer, Ordered, CrashMessage> context) {
    switch (message) {
      case Order order -> context.reply(order, context.persist(new Ordered(order.op(), FILLER)));
      case End end -> {
        int newSize = context.persist(new Ordered(end.op(), FILLER));
        context.erase();
        context.reply(end, newSize);
      }
      default -> throw new AssertionError(message);
    }
  }
}
