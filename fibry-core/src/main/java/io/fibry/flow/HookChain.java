package io.fibry.flow;

import io.fibry.ActorBuilder;
import io.fibry.Handler;
import io.fibry.mailbox.Mailbox;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one kind of hooks. What is in the lists throws nothing: an asynchronous hook is there as the
 * code that starts its actor.
 */
record HookChain<M, R>(Apart apart, Handler.Returning<M, R> body, List<Handler<M>> first, List<Hooks.After<M, R>> then,
    List<Hooks.OnError<M>> failing) implements Hooks<M, R> {
  private static final Logger LOG = LoggerFactory.getLogger(Hooks.class);

  static <M, R> Hooks<M, R> of(ActorBuilder<?> how, Handler.Returning<M, R> body) {
    return new HookChain<>(new Apart(Objects.requireNonNull(how, "how").mailbox(Mailbox.unbounded()), new AtomicLong()),
        Objects.requireNonNull(body, "body"), List.of(), List.of(), List.of());
  }

  @Override
  public Hooks<M, R> before(Handler<M> hook) {
    Objects.requireNonNull(hook, "hook");
    return withFirst(message -> new Hook("before", message, () -> hook.handle(message)).run());
  }

  @Override
  public Hooks<M, R> beforeAsync(Handler<M> hook) {
    Objects.requireNonNull(hook, "hook");
    return withFirst(message -> apart.start(new Hook("before", message, () -> hook.handle(message))));
  }

  @Override
  public Hooks<M, R> after(After<M, R> hook) {
    Objects.requireNonNull(hook, "hook");
    return withThen((message, reply) -> new Hook("after", message, () -> hook.after(message, reply)).run());
  }

  @Override
  public Hooks<M, R> afterAsync(After<M, R> hook) {
    Objects.requireNonNull(hook, "hook");
    return withThen((message, reply) -> apart.start(new Hook("after", message, () -> hook.after(message, reply))));
  }

  @Override
  public Hooks<M, R> onError(OnError<M> hook) {
    Objects.requireNonNull(hook, "hook");
    return withFailing(
        (message, failure) -> new Hook("on the error at", message, () -> hook.failed(message, failure)).run());
  }

  @Override
  public Hooks<M, R> onErrorAsync(OnError<M> hook) {
    Objects.requireNonNull(hook, "hook");
    return withFailing(
        (message, failure) -> apart.start(new Hook("on the error at", message, () -> hook.failed(message, failure))));
  }

  private Hooks<M, R> withFirst(Handler<M> hook) {
    return new HookChain<>(apart, body, and(first, hook), then, failing);
  }

  private Hooks<M, R> withThen(After<M, R> hook) {
    return new HookChain<>(apart, body, first, and(then, hook), failing);
  }

  private Hooks<M, R> withFailing(OnError<M> hook) {
    return new HookChain<>(apart, body, first, then, and(failing, hook));
  }

  private static <T> List<T> and(List<T> before, T one) {
    return Stream.concat(before.stream(), Stream.of(one)).toList();
  }

  @Override
  public R handle(M message) throws Exception {
    for (var hook : first) hook.handle(message);
    R reply;
    try {
      reply = Objects.requireNonNull(body.handle(message), "the body answered null; let it answer an Optional");
    } catch (Throwable failure) {
      for (var hook : failing) hook.failed(message, failure);
      throw failure;
    }
    for (var hook : then) hook.after(message, reply);
    return reply;
  }

  /**
   * One call of a hook. What it throws in line is logged; in an actor of its own it is for that
   * actor's failure policy.
   */
  private record Hook(String when, Object message, Handler.Task code) implements Handler<Void> {
    void run() {
      contain(code);
    }

    void contain(Handler.Task task) {
      try {
        task.run();
      } catch (Throwable failure) {
        // it was meant for the whole, not for the hook
        if (failure instanceof InterruptedException) Thread.currentThread().interrupt();
        LOG.error("the {} failed; what it hangs on goes on", this, failure);
      }
    }

    @Override
    public void handle(Void nothing) throws Exception {
      code.run();
    }

    @Override
    public String toString() {
      return "hook " + when + " " + message;
    }
  }

  /** Where asynchronous hooks run: each in an actor that ends after it. */
  private record Apart(ActorBuilder<?> how, AtomicLong started) {
    void start(Hook hook) {
      hook.contain(() -> {
        var actor = (how.name().isPresent() ? how.part("hook-" + started.incrementAndGet()) : how).newSink();
        actor.execAsync(hook);
        actor.sendPoisonPill();
      });
    }
  }
}
