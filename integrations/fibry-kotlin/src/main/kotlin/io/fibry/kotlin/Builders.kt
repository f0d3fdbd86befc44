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

/** Returns a copy for messages of type [M]. [find] finds a named actor only with this type. */
public inline fun <reified M : Any> ActorBuilder<in M>.protocol(): ActorBuilder<M> = protocol(M::class.javaObjectType)

/**
 * Returns the living actor with this name, or null if none exists. Throws if the actor was made
 * without a protocol, or with another protocol.
 */
public inline fun <reified M : Any> ActorScope.find(name: String): Actor<M>? =
  find(name, M::class.javaObjectType).getOrNull()

/**
 * Returns a sequence that an actor produces while a thread reads it. It calls [Generator.of]. The
 * block [producer] runs once per iteration, passes elements to the reader with `yield`, and may
 * block.
 *
 * @param builder makes the actor
 * @param ahead max number of unread elements; at least 1
 */
public fun <T : Any> generator(
  builder: ActorBuilder<*> = ActorSystem.anonymous(),
  ahead: Int,
  producer: Generator.Output<T>.() -> Unit,
): Generator<T> = Generator.of(builder, ahead, Handler { output -> output.producer() })

/** Runs a task after the delay [initial], then once per [period]; missed runs are skipped. */
public fun Stereotypes.scheduleAtFixedRate(initial: Duration, period: Duration, task: (Exitable) -> Unit): Exitable =
  scheduleAtFixedRate(initial.toJavaDuration(), period.toJavaDuration(), Handler<Exitable> { self -> task(self) })

/** Runs a task after the delay [initial], then again [delay] after the end of each run. */
public fun Stereotypes.scheduleWithFixedDelay(initial: Duration, delay: Duration, task: (Exitable) -> Unit): Exitable =
  scheduleWithFixedDelay(initial.toJavaDuration(), delay.toJavaDuration(), Handler<Exitable> { self -> task(self) })
