package io.fibry.flow;

import io.fibry.ActorBuilder;
import io.fibry.Handler;
import io.fibry.block.ChangedCopy;
import io.fibry.spi.BlockBuilder;
import io.fibry.text.SafeLogger;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.slf4j.Logger;

/** A body and its hooks. The hooks are wrapped, so that they throw nothing; the body may throw. */
record HookChain<M, R>(ActorBuilder<?> builder, AtomicLong startedHookCount, Handler.Returning<M, R> body,
    List<Handler<M>> beforeHooks, List<HookedFunction.After<M, R>> afterHooks,
    List<HookedFunction.OnError<M>> errorHooks)
    implements HookedFunction<M, R> {
  private static final Logger LOG = SafeLogger.of(HookedFunction.class);

  static <M, R> HookedFunction<M, R> of(ActorBuilder<?> builder, Handler.Returning<M, R> body) {
    return new HookChain<>(ChangedCopy.forBlockMessages(Objects.requireNonNull(builder, "builder")), new AtomicLong(),
        Objects.requireNonNull(body, "body"), List.of(), List.of(), List.of());
  }

  @Override
  public HookedFunction<M, R> before(Handler<M> hook) {
    return withBefore(hook, HookCall::run);
  }

  @Override
  public HookedFunction<M, R> beforeAsync(Handler<M> hook) {
    return withBefore(hook, this::start);
  }

  @Override
  public HookedFunction<M, R> after(After<M, R> hook) {
    return withAfter(hook, HookCall::run);
  }

  @Override
  public HookedFunction<M, R> afterAsync(After<M, R> hook) {
    return withAfter(hook, this::start);
  }

  @Override
  public HookedFunction<M, R> onError(OnError<M> hook) {
    return withOnError(hook, HookCall::run);
  }

  @Override
  public HookedFunction<M, R> onErrorAsync(OnError<M> hook) {
    return withOnError(hook, this::start);
  }

  private HookedFunction<M, R> withBefore(Handler<M> hook, Consumer<HookCall> runner) {
    Objects.requireNonNull(hook, "hook");
    Handler<M> newHook = message -> runner.accept(new HookCall(builder, "before", message, () -> hook.handle(message)));
    return new HookChain<>(builder, startedHookCount, body, ChangedCopy.append(beforeHooks, newHook), afterHooks,
        errorHooks);
  }

  private HookedFunction<M, R> withAfter(After<M, R> hook, Consumer<HookCall> runner) {
    Objects.requireNonNull(hook, "hook");
    After<M, R> newHook =
        (message, reply) -> runner.accept(new HookCall(builder, "after", message, () -> hook.after(message, reply)));
    return new HookChain<>(builder, startedHookCount, body, beforeHooks, ChangedCopy.append(afterHooks, newHook),
        errorHooks);
  }

  private HookedFunction<M, R> withOnError(OnError<M> hook, Consumer<HookCall> runner) {
    Objects.requireNonNull(hook, "hook");
    OnError<M> newHook = (message, failure) -> runner
        .accept(new HookCall(builder, "on the error at", message, () -> hook.onError(message, failure)));
    return new HookChain<>(builder, startedHookCount, body, beforeHooks, afterHooks,
        ChangedCopy.append(errorHooks, newHook));
  }

  @Override
  public R handle(M message) throws Exception {
    Objects.requireNonNull(message, "message");
    for (var hook : beforeHooks) hook.handle(message);
    R reply;
    try {
      reply = Objects.requireNonNull(body.handle(message), "the body answered null; let it answer an Optional");
    } catch (Throwable failure) {
      for (var hook : errorHooks) hook.onError(message, failure);
      throw failure;
    }
    for (var hook : afterHooks) hook.after(message, reply);
    return reply;
  }

  private record HookCall(ActorBuilder<?> builder, String position, Object message, Handler.Task code)
      implements Handler<Void> {
    void run() {
      runSafely(code);
    }

    void runSafely(Handler.Task task) {
      try {
        task.run();
      } catch (Throwable failure) {
        // the interrupt was meant for the whole call, not only for the hook
        if (failure instanceof InterruptedException) Thread.currentThread().interrupt();
        LOG.error("the {} failed; the call continues without it", this, failure);
      }
    }

    @Override
    public void handle(Void unused) throws Exception {
      code.run();
    }

    @Override
    public String toString() {
      return "hook " + position + " " + BlockBuilder.of(builder).describe(message);
    }
  }

  /** Starts a hook on an actor of its own. */
  private void start(HookCall call) {
    call.runSafely(() -> {
      var actor = BlockBuilder.of(builder).child("hook-" + startedHookCount.incrementAndGet()).newSink();
      actor.execAsync(call);
      actor.sendPoisonPill();
    });
  }
}
