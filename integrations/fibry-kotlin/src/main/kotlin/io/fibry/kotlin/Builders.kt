package io.fibry.kotlin

import io.fibry.Actor
import io.fibry.ActorBuilder
import io.fibry.ActorScope
import io.fibry.ActorSystem
import io.fibry.Exitable
import io.fibry.Handler
import io.fibry.flow.Generator
import io.fibry.stereotype.Stereotypes
import kotlin.jvm.optionals.getOrNull
import kotlin.time.Duration
import kotlin.time.toJavaDuration

/** A copy for this type of messages, by which [find] finds a named actor. */
public inline fun <reified M : Any> ActorBuilder<in M>.protocol(): ActorBuilder<M> = protocol(M::class.javaObjectType)

/** The living actor with this name, or null; it must have been made with this protocol. */
public inline fun <reified M : Any> ActorScope.find(name: String): Actor<M>? =
  find(name, M::class.javaObjectType).getOrNull()

/**
 * A sequence that an actor produces while it is read, as by [Generator.of]. The block runs once per
 * iteration, hands over elements with `yield`, and may block.
 *
 * @param builder makes the actor
 * @param ahead most unread elements; at least 1
 */
public fun <T : Any> generator(
  builder: ActorBuilder<*> = ActorSystem.anonymous(),
  ahead: Int,
  producer: Generator.Output<T>.() -> Unit,
): Generator<T> = Generator.of(builder, ahead, Handler { output -> output.producer() })

/** Runs a task after [initial], then once per [period]; late runs are skipped. */
public fun Stereotypes.scheduleAtFixedRate(initial: Duration, period: Duration, task: (Exitable) -> Unit): Exitable =
  scheduleAtFixedRate(initial.toJavaDuration(), period.toJavaDuration(), Handler<Exitable> { self -> task(self) })

/** Runs a task after [initial], then [delay] after each end. */
public fun Stereotypes.scheduleWithFixedDelay(initial: Duration, delay: Duration, task: (Exitable) -> Unit): Exitable =
  scheduleWithFixedDelay(initial.toJavaDuration(), delay.toJavaDuration(), Handler<Exitable> { self -> task(self) })
