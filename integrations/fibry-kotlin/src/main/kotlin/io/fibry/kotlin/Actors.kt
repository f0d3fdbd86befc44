package io.fibry.kotlin

import io.fibry.Actor
import io.fibry.ActorBuilder
import io.fibry.ActorContext
import io.fibry.ActorSystem
import io.fibry.Handler
import java.util.concurrent.Callable

/**
 * Makes an actor for a protocol. The variables of the block are its state, and the block ends with
 * its message handler, [Behaviour.handle]. The block runs on the actor's thread before the first
 * message, and again at each restart, so the state is then fresh. Only the actor touches it.
 *
 * The handler may block, but cannot suspend: an actor handles one message at a time, and a
 * suspended handler would let the next message begin.
 *
 * @param how scope, name, strategy, mailbox and failure policy
 */
public inline fun <reified M : Any> actor(
  how: ActorBuilder<in M> = ActorSystem.anonymous(),
  noinline behaviour: Behaviour<M>.() -> Handler.InContext<M>,
): Actor<M> = actor(M::class.javaObjectType, how, behaviour)

@PublishedApi
internal fun <M : Any> actor(
  type: Class<M>,
  how: ActorBuilder<in M>,
  behaviour: Behaviour<M>.() -> Handler.InContext<M>,
): Actor<M> =
  how.protocol(type)
    .initialState<Behaviour<M>>(Callable { Behaviour(behaviour) })
    .onStop(Handler<Behaviour<M>> { life -> life.stop() })
    .newActor(Handler.StatefulInContext<Behaviour<M>, M> { life, message, context ->
      life.handler.handle(message, context)
    })

/** The state and the handler of an actor between two restarts. Used on the actor's thread only. */
public class Behaviour<M : Any> internal constructor(make: Behaviour<M>.() -> Handler.InContext<M>) {
  private var hook: () -> Unit = {}
  internal val handler: Handler.InContext<M> = make(this)

  /**
   * Handles each message, with the context as receiver: `reply(message, value)`, `self()`,
   * `watch(other) { reason -> .. }`. Stands last in the block.
   */
  public fun handle(handler: ActorContext<M>.(M) -> Unit): Handler.InContext<M> =
    Handler.InContext { message, context -> context.handler(message) }

  /**
   * Runs a hook on the actor's thread when the actor ends, and before a restart. Hooks run in
   * reverse order.
   */
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
