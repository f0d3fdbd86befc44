package io.fibry.durable;

import io.fibry.Request;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;

/** A handler for desks with items. Desks pass items to other desks, set reminders and run steps. */
final class Desk {
  sealed interface Message {}

  record Add(String item) implements Message {}

  /** Asks for the items; the answer is one text, in which spaces separate them. */
  record Items() implements Message, Request<Items, String> {}

  /** Passes an item to another desk. */
  record Pass(String to, String item) implements Message {}

  /**
   * Two desks send the ball to each other this many times; the last receiver adds the item
   * {@code end}.
   */
  record Ball(String from, int times) implements Message {}

  /** Passes an item to another desk, and then fails. */
  record PassAndFail(String to, String item) implements Message {}

  record Fail(String item) implements Message, Request<Fail, String> {}

  record Remind(String name, String item, Duration delay, boolean again) implements Message {}

  record RemindAndFail(String name, String item, Duration delay) implements Message {}

  record Forget(String name) implements Message {}

  record End() implements Message {}

  /** Adds an item; the answer is the number of items, including the new item. */
  record Buy(String idempotencyKey, String item) implements Message, Idempotent, Request<Buy, Integer> {}

  /** Erases the desk; the answer is the number of items that it had. */
  record Checkout(String idempotencyKey) implements Message, Idempotent, Request<Checkout, Integer> {}

  record Note(String idempotencyKey, String item) implements Message, Idempotent {}

  /** Waits until the test opens the gate, then adds an item; the answer is the number of items. */
  record HoldAndAdd(String gate, String item) implements Message, Request<HoldAndAdd, Integer> {}

  /** Waits until the test opens the gate. */
  record Hold(String gate) implements Message {}

  /** Runs steps, and fails after step number {@code failAt}; the answer is the steps' results. */
  record Work(String idempotencyKey, List<String> steps, int failAt)
      implements Message, Idempotent, Request<Work, String> {}

  /**
   * Runs the step {@code charge}, which fails, and then the step {@code refund}. If {@code fail} is
   * set, the handler then throws. The answer has the failure of the first step and the result of
   * the second step.
   */
  record Repair(String idempotencyKey, boolean fail) implements Message, Idempotent, Request<Repair, String> {}

  /** Waits in a step until the test opens the gate. */
  record HoldInStep(String idempotencyKey, String gate) implements Message, Idempotent, Request<HoldInStep, String> {}

  /**
   * A tick with a period sets a repeating reminder, whose message is a tick with a period of zero.
   * The handler of such a tick runs a step, and adds its result as an item.
   */
  record Tick(Duration period) implements Message {}

  /** Sleeps for this time, then adds an item. */
  record Sleep(String item, Duration time) implements Message {}

  record State(List<String> items) {
    State with(String item) {
      var newItems = new ArrayList<>(items);
      newItems.add(item);
      return new State(List.copyOf(newItems));
    }
  }

  static final State EMPTY = new State(List.of());
  final Map<String, CountDownLatch> gates = new ConcurrentHashMap<>();
  volatile Thread sleeper; // the thread that began the last sleep
  final Semaphore begun = new Semaphore(0); // counts handlers that wait for a gate

  // idempotency keys or names of the steps that ran
  final List<String> effects = Collections.synchronizedList(new ArrayList<>());
  Durable<Message> others; // the kind of the desks to which this desk sends items and balls

  State handle(State state, Message message, DurableContext<Message> context) throws Exception {
    switch (message) {
      case Add add -> {
        return state.with(add.item());
      }
      case Items items -> context.reply(items, String.join(" ", state.items()));
      case Pass pass -> context.sendMessage(others, pass.to(), new Add(pass.item()));
      case Ball ball -> {
        if (ball.times() == 0) return state.with("end");
        context.sendMessage(others, ball.from(), new Ball(context.key(), ball.times() - 1));
      }
      case PassAndFail pass -> {
        context.sendMessage(others, pass.to(), new Add(pass.item()));
        throw new IllegalStateException("made up, for a test");
      }
      case Fail fail -> throw new IllegalStateException("made up, for a test: " + fail.item());
      case Remind remind -> {
        if (remind.again()) context.setRepeatingReminder(remind.name(), new Add(remind.item()), remind.delay());
        else context.setReminder(remind.name(), new Add(remind.item()), remind.delay());
      }
      case RemindAndFail remind -> {
        context.setReminder(remind.name(), new Add(remind.item()), remind.delay());
        throw new IllegalStateException("made up, for a test");
      }
      case Forget forget -> context.cancelReminder(forget.name());
      case End end -> context.erase();
      case Buy buy -> {
        context.reply(buy, state.items().size() + 1);
        return state.with(buy.item());
      }
      case Checkout checkout -> {
        context.reply(checkout, state.items().size());
        context.erase();
      }
      case Note note -> {
        return state.with(note.item());
      }
      case HoldAndAdd hold -> {
        begun.release();
        gates.get(hold.gate()).await();
        context.reply(hold, state.items().size() + 1);
        return state.with(hold.item());
      }
      case Hold hold -> {
        begun.release();
        gates.get(hold.gate()).await();
      }
      case Work work -> {
        var results = new ArrayList<String>();
        for (int i = 0; i < work.steps().size(); i++) {
          String name = work.steps().get(i);
          results.add(context.step(name, String.class, () -> effect(context.idempotencyKey(name))));
          if (i + 1 == work.failAt()) throw new IllegalStateException("made up, for a test");
        }
        context.reply(work, String.join(" ", results));
      }
      case HoldInStep hold -> context.reply(hold, context.step("charge", String.class, () -> {
        String result = effect(context.idempotencyKey("charge"));
        begun.release();
        gates.get(hold.gate()).await();
        return result;
      }));
      case Repair repair -> {
        String outcome;
        try {
          outcome = context.step("charge", String.class, () -> {
            effect("charge");
            throw new IOException("made up, for a test");
          });
        } catch (StepFailedException failure) {
          outcome = failure.getMessage() + " " + context.step("refund", String.class, () -> effect("refund"));
        }
        if (repair.fail()) throw new IllegalStateException("made up, for a test");
        context.reply(repair, outcome);
      }
      case Tick tick -> {
        if (!tick.period().isZero()) context.setRepeatingReminder("tick", new Tick(Duration.ZERO), tick.period());
        else return state.with(context.step("work", String.class, () -> effect(context.idempotencyKey("work"))));
      }
      case Sleep sleep -> {
        sleeper = Thread.currentThread();
        context.sleep("nap", sleep.time());
        return state.with(sleep.item());
      }
    }
    return state;
  }

  private String effect(String key) {
    effects.add(key);
    return "result-" + effects.size();
  }

  Durable<Message> kind(String name) {
    return Durable.kind(name, Message.class).state(EMPTY).handler(this::handle);
  }

  Durable<Message> keeping(int maxStored) {
    return Durable.kind("keeping", Message.class).storeMessages(maxStored).state(EMPTY).handler(this::handle);
  }
}
