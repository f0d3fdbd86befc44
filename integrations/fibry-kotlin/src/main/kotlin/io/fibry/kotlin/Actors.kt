package io.fibry.kotlin

import io.fibry.Actor
import io.fibry.ActorBuilder
import io.fibry.ActorContext
import io.fibry.ActorSystem
import io.fibry.Handler
import java.util.concurrent.Callable

/**
 * An actor for a protocol: its state is what the block declares, its behaviour what the block ends with, [Behaviour.handle]. The block runs on the actor's thread before the first message, and again at each restart: so each
 * life has fresh variables, and only this actor touches them.
 *
 * The handler may block, and does not suspend: while a coroutine is suspended the actor's turn would be over, and the next message begin.
 *
 * @param how says scope, name, strategy, mailbox and failure policy
 */
public inline fun <reified M : Any> actor(how: ActorBuilder<in M> = ActorSystem.anonymous(), noinline behaviour: Behaviour<M>.() -> Handler.InContext<M>): Actor<M> =
  actor(M::class.javaObjectType, how, behaviour)

@PublishedApi
internal fun <M : Any> actor(type: Class<M>, how: ActorBuilder<in M>, behaviour: Behaviour<M>.() -> Handler.InContext<M>): Actor<M> =
  how.protocol(type)
    .initialState<Behaviour<M>>(Callable { Behaviour(behaviour) })
    .onStop(Handler<Behaviour<M>> { life -> life.stop() })
    .newActor(Handler.StatefulInContext<Behaviour<M>, M> { life, message, context -> life.handler.handle(message, context) })

/** One life of an actor: the variables of the block that made it, and what it does with each message. Used on the actor's thread only. */
public class Behaviour<M : Any> internal constructor(make: Behaviour<M>.() -> Handler.InContext<M>) {
  private var hook: () -> Unit = {}
  internal val handler: Handler.InContext<M> = make(this)

  /** What to do with each message, the context at hand: `reply(message, value)`, `self()`, `watch(other) { reason -> .. }`. Stands last in the block. */
  public fun handle(handler: ActorContext<M>.(M) -> Unit): Handler.InContext<M> = Handler.InContext { message, context -> context.handler(message) }

  /** Called when this life ends, on the actor's thread: with the actor, or before a restart. Of several, the last one first. */
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
