package io.fibry.kotlin

import io.fibry.Actor
import io.fibry.ActorBuilder
import io.fibry.ActorContext
import io.fibry.ActorSystem
import io.fibry.Handler
import java.util.concurrent.Callable

/**
 * Makes an actor for a protocol. The block declares its state and ends with [Behavior.handle]. It
 * runs on the actor's thread before the first message and after each restart, with fresh variables
 * that only the actor touches.
 *
 * The handler may block, but cannot suspend: the next message would begin meanwhile.
 *
 * @param builder scope, name, strategy, mailbox and failure policy
 */
public inline fun <reified M : Any> actor(
  builder: ActorBuilder<in M> = ActorSystem.anonymous(),
  noinline behavior: Behavior<M>.() -> Handler.WithContext<M>,
): Actor<M> = actor(M::class.javaObjectType, builder, behavior)

@PublishedApi
internal fun <M : Any> actor(
  type: Class<M>,
  builder: ActorBuilder<in M>,
  behavior: Behavior<M>.() -> Handler.WithContext<M>,
): Actor<M> =
  builder.protocol(type)
    .initialState<Behavior<M>>(Callable { Behavior(behavior) })
    .onStop(Handler<Behavior<M>> { life -> life.stop() })
    .newActor(Handler.StatefulWithContext<Behavior<M>, M> { life, message, context ->
      life.handler.handle(message, context)
    })

/**
 * The state and the handler of an actor until its next restart. Used on the actor's thread only.
 */
public class Behavior<M : Any> internal constructor(make: Behavior<M>.() -> Handler.WithContext<M>) {
  private var hook: () -> Unit = {}
  internal val handler: Handler.WithContext<M> = make(this)

  /**
   * Handles each message, with the context as receiver: `reply(message, value)`, `self()`,
   * `watch(other) { reason -> .. }`. Stands last in the block.
   */
  public fun handle(handler: ActorContext<M>.(M) -> Unit): Handler.WithContext<M> =
    Handler.WithContext { message, context -> context.handler(message) }

  /** Runs a hook on the actor's thread when it ends or restarts. The last hook runs first. */
  public fun onStop(hook: () -> Unit) {
    val before = this.hook
    this.hook = {
      try {
        hook()
      } finally {
        before()
      }
    }
  }

  internal fun stop() = hook()
}
