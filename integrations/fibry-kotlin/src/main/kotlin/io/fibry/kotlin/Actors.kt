package io.fibry.kotlin

import io.fibry.Actor
import io.fibry.ActorBuilder
import io.fibry.ActorContext
import io.fibry.ActorSystem
import io.fibry.Handler
import java.util.concurrent.Callable

/**
 * Makes an actor for messages of type [M]. The block [behavior] declares the actor's state as local
 * variables, and ends with [Behavior.handle]. The block runs on the actor's thread before the first
 * message and after each restart, so its variables are initialized again. Only the actor
 * uses them.
 *
 * The handler may block. It cannot suspend, because the actor would begin with its next message
 * during the suspension.
 *
 * @param builder sets scope, name, strategy, mailbox and failure policy
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
 * The state and the handler of an actor until its next restart. Only the actor's thread uses it.
 */
public class Behavior<M : Any> internal constructor(make: Behavior<M>.() -> Handler.WithContext<M>) {
  private var hook: () -> Unit = {}
  internal val handler: Handler.WithContext<M> = make(this)

  /**
   * Handles each message, with the context as receiver: `reply(message, value)`, `self()`,
   * `watch(other) { reason -> .. }`. Call this last in the block.
   */
  public fun handle(handler: ActorContext<M>.(M) -> Unit): Handler.WithContext<M> =
    Handler.WithContext { message, context -> context.handler(message) }

  /** Runs a hook on the actor's thread when the actor ends or restarts, the latest hook first. */
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
