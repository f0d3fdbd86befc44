package io.fibry.kotlin

import io.fibry.ActorBuilder
import io.fibry.codec.Codec
import io.fibry.codec.SchemaEvolution
import io.fibry.codec.DerivedCodec
import io.fibry.durable.Durable
import io.fibry.durable.DurableContext
import io.fibry.durable.EventSourcedContext
import io.fibry.durable.EventView
import io.fibry.pool.Entities
import io.fibry.store.Store
import java.util.concurrent.Callable
import java.util.function.BiFunction
import kotlin.time.Duration
import kotlin.time.toJavaDuration

/** Begins the definition of a kind of durable actor, as [Durable.kind] does. */
public inline fun <reified M : Any> durable(name: String): Durable.Builder<M> =
  Durable.kind(name, M::class.javaObjectType)

/**
 * Returns a CBOR codec for a data class with `@JvmRecord`, an enum, an `object`, or a sealed
 * interface of these. It calls [Codec.of].
 *
 * @param evolution adds names of types and old forms of records
 */
public inline fun <reified T : Any> codecOf(
  noinline evolution: (SchemaEvolution<T>) -> SchemaEvolution<T> = { it },
): DerivedCodec<T> =
  Codec.of(T::class.javaObjectType, evolution)

/**
 * Stores events, from which the state is computed. State and event have the types of the parameters
 * of [after].
 *
 * @param initial the first state of each key; it must be immutable, because all keys share it
 * @param after returns the state after an event; it has no other effect and never fails
 */
public inline fun <M : Any, S : Any, reified E : Any> Durable.Builder<M>.events(
  initial: S,
  noinline after: (S, E) -> S,
): Durable.EventsStep<S, E, M> = events(E::class.javaObjectType, initial, BiFunction(after))

/** Ends the definition. The receiver of the handler is its context: `persist(..)`, `reply(..)`. */
public fun <S : Any, E : Any, M : Any> Durable.EventsStep<S, E, M>.handle(
  handler: EventSourcedContext<S, E, M>.(S, M) -> Unit,
): Durable<M> = handler { state, message, context -> context.handler(state, message) }

/** Ends the definition. The handler returns the next state; its receiver is the context. */
public fun <S : Any, M : Any> Durable.StateStep<S, M>.handle(
  handler: DurableContext<M>.(S, M) -> S,
): Durable<M> = handler(Durable.StateHandlerWithContext { state, message, context -> context.handler(state, message) })

/** Reads the events of a kind, as [Durable.view] does. */
public inline fun <reified E : Any> eventView(kind: String): EventView<E> = Durable.view(kind, E::class.javaObjectType)

/** Loads an actor per key at its first message. Passivates it after [idle] without a message. */
public fun <M : Any> Durable<M>.entities(
  builder: ActorBuilder<in M>,
  store: Store,
  idle: Duration,
): Entities<String, M> = entities(builder, store, idle.toJavaDuration())

/** Sets how many replies to `Idempotent` messages an actor remembers, and for how long ([time]). */
public fun <M : Any> Durable.Builder<M>.deduplicate(answers: Int, time: Duration): Durable.Builder<M> =
  deduplicate(answers, time.toJavaDuration())

/** Runs [effect] and stores its result. If the message is handled again, returns this result. */
public inline fun <reified R : Any> DurableContext<*>.step(name: String, noinline effect: () -> R): R =
  step(name, R::class.javaObjectType, Callable(effect))

/** Sends this actor the message after [delay], even if the process restarts meanwhile. */
public fun <M : Any> DurableContext<M>.setReminder(name: String, message: M, delay: Duration): Unit =
  setReminder(name, message, delay.toJavaDuration())

/** Sends this actor the message once per [period], even if the process restarts. */
public fun <M : Any> DurableContext<M>.setRepeatingReminder(name: String, message: M, period: Duration): Unit =
  setRepeatingReminder(name, message, period.toJavaDuration())

/** Waits for [time]; after a restart, it waits only for the remaining time. */
public fun DurableContext<*>.sleep(name: String, time: Duration): Unit = sleep(name, time.toJavaDuration())
