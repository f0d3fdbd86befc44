package io.fibry.kotlin

import io.fibry.Strategy
import io.fibry.support.Patience
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.CyclicBarrier
import java.util.concurrent.Executor
import java.util.concurrent.Executors
import java.util.concurrent.atomic.AtomicInteger
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.supervisorScope
import kotlinx.coroutines.withContext
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.MethodSource

class DispatchersTest {
  companion object {
    @JvmStatic
    fun strategies(): List<Strategy> {
      val pool = Executors.newFixedThreadPool(2, Thread.ofPlatform().daemon().factory())
      val own = Strategy { piece -> Thread.ofVirtual().start(piece) }
      return listOf(
        Strategy.FIBER, Strategy.THREAD, Strategy.RESIDENT_FIBER, Strategy.CALLER, Strategy.of(pool), own,
      )
    }
  }

  @ParameterizedTest
  @MethodSource("strategies")
  fun coroutinesRunOnAnyStrategy(strategy: Strategy) = coroutineTest {
    strategy.asCoroutineDispatcher().use { dispatcher ->
      val squares = List(100) { n ->
        async(dispatcher) {
          yield()
          delay(1.milliseconds)
          n * n
        }
      }.awaitAll()

      assertEquals(328_350, squares.sum())
    }
  }

  @ParameterizedTest
  @MethodSource("strategies")
  fun manyYieldsDoNotOverflowStack(strategy: Strategy) = coroutineTest {
    strategy.asCoroutineDispatcher().use { dispatcher ->
      val yields = withContext(dispatcher) {
        var done = 0
        repeat(10_000) {
          yield()
          done++
        }
        done
      }

      assertEquals(10_000, yields)
    }
  }

  @Test
  fun fiberDispatcherStartsVirtualThreadForEachDispatch() = coroutineTest {
    val threads = ConcurrentHashMap.newKeySet<Thread>()

    coroutineScope {
      repeat(1_000) {
        launch(Dispatchers.FIBER) {
          threads += Thread.currentThread()
          yield()
          threads += Thread.currentThread()
        }
      }
    }

    assertEquals(2_000, threads.size)
    assertTrue(threads.all { it.isVirtual })
    threads.forEach(Patience::awaitEnd)
  }

  @Test
  fun coroutineOnFiberInheritsNoThreadLocalOfItsStarter() = coroutineTest {
    val who = InheritableThreadLocal<String>()
    who.set("Alice")

    val seen = withContext(Dispatchers.FIBER) { who.get() }

    assertEquals(null, seen)
  }

  @Test
  fun limitedParallelismReachesButNeverExceedsItsLimit() = coroutineTest {
    val limited = Dispatchers.FIBER.limitedParallelism(3)
    val three = CyclicBarrier(3)
    val running = AtomicInteger()
    val most = AtomicInteger()

    coroutineScope {
      repeat(99) {
        launch(limited) {
          most.accumulateAndGet(running.incrementAndGet(), Math::max)
          three.await()
          running.decrementAndGet()
        }
      }
    }

    assertEquals(3, most.get())
  }

  @Test
  fun dispatcherOfThreadStrategyUsesOneThread() = coroutineTest {
    val threads = ConcurrentHashMap.newKeySet<Thread>()

    Strategy.THREAD.asCoroutineDispatcher().use { dispatcher ->
      coroutineScope {
        repeat(100) {
          launch(dispatcher) {
            threads += Thread.currentThread()
            yield()
            threads += Thread.currentThread()
          }
        }
      }
    }

    assertEquals(1, threads.size)
    assertFalse(threads.single().isVirtual)
  }

  @Test
  fun closeOfDispatcherRunsPendingCoroutinesAndEndsThread() = coroutineTest {
    val gate = Gate()
    val dispatcher = Strategy.THREAD.asCoroutineDispatcher()
    val first = async(dispatcher) {
      gate.pass()
      Thread.currentThread()
    }
    val second = async(dispatcher) { "ran" }
    eventually { gate.isEntered }

    dispatcher.close()
    gate.open()

    assertEquals("ran", second.await())
    Patience.awaitEnd(first.await())
  }

  @Test
  fun coroutineIsCancelledAndCleansUpOnIoWhenExecutorShutsDown() = coroutineTest {
    val pool = Executors.newSingleThreadExecutor()
    val never = CompletableDeferred<Unit>()
    var cleanedUpOn = ""
    val job = launch(Strategy.of(pool).asCoroutineDispatcher(), CoroutineStart.UNDISPATCHED) {
      try {
        never.await()
      } finally {
        cleanedUpOn = Thread.currentThread().name
      }
    }

    pool.shutdown()
    never.complete(Unit)
    job.join()

    assertTrue(job.isCancelled)
    assertTrue(cleanedUpOn.startsWith("DefaultDispatcher-worker"), cleanedUpOn)
  }

  /** The dispatcher is not notified of shutdownNow, which returns the tasks to its caller. */
  @Test
  fun coroutineContinuesWhenCallerOfShutdownNowRunsItsTask() = coroutineTest {
    val pool = Executors.newSingleThreadExecutor()
    val gate = Gate()
    pool.execute { runCatching(gate::pass) }
    val job = launch(Strategy.of(pool).asCoroutineDispatcher(), CoroutineStart.UNDISPATCHED) { yield() }

    val left = pool.shutdownNow()
    assertTrue(job.isActive)
    left.forEach(Runnable::run)
    job.join()

    assertEquals(1, left.size)
    assertFalse(job.isCancelled)
  }

  @Test
  fun coroutineIsCancelledWithExceptionOfThrowingStrategy() = coroutineTest {
    val none = Strategy { throw IllegalStateException("no thread today") }

    val job = async(none.asCoroutineDispatcher()) { "ran" }
    job.join()

    val failure = runCatching { job.await() }.exceptionOrNull()
    assertInstanceOf(CancellationException::class.java, failure)
    assertTrue(generateSequence(failure) { it.cause }.any { it.message == "no thread today" }, failure.toString())
  }

  @Test
  fun eachDispatchRunsOnceThoughStrategyRunsItTwiceOrThrows() = coroutineTest {
    val twice = Strategy { activation -> Thread.ofVirtual().start { repeat(2) { activation.run() } } }
    val runsAndThrows = Strategy { activation ->
      activation.run()
      throw IllegalStateException("too late")
    }
    val pieces = AtomicInteger()

    val jobs = listOf(twice, runsAndThrows).map { strategy ->
      launch(strategy.asCoroutineDispatcher()) { repeat(10) { pieces.incrementAndGet().also { yield() } } }
    }
    jobs.joinAll()

    assertEquals(20, pieces.get())
    assertTrue(jobs.none { it.isCancelled })
  }

  @ParameterizedTest
  @MethodSource("strategies")
  fun failingCoroutineAffectsNoOtherCoroutine(strategy: Strategy) = coroutineTest {
    strategy.asCoroutineDispatcher().use { dispatcher ->
      for (error in listOf(StackOverflowError("mine"), OutOfMemoryError("mine"), InterruptedException("mine"))) {
        val failure =
          runCatching { supervisorScope { async<Int>(dispatcher) { throw error }.await() } }.exceptionOrNull()

        assertEquals("mine", failure?.message)
        assertEquals(1, withContext(dispatcher) { 1 })
      }
    }
  }

  @Test
  fun executorOfFiberDispatcherRunsTaskOnVirtualThread() = coroutineTest {
    val ran = CompletableDeferred<Boolean>()
    val executor: Executor = Strategy.FIBER.asCoroutineDispatcher().executor

    executor.execute { ran.complete(Thread.currentThread().isVirtual) }

    assertTrue(ran.await())
  }
}
