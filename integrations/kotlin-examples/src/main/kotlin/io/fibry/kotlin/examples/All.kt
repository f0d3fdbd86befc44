@file:JvmName("All")

package io.fibry.kotlin.examples

import java.lang.management.ManagementFactory
import java.nio.file.Path
import kotlin.time.measureTime

/** The programs, one after the other: about a minute. A JVM for each: the threads that one has left on IO would slow the next. */
fun main() {
  val java = Path.of(System.getProperty("java.home"), "bin", "java").toString()
  val arguments = ManagementFactory.getRuntimeMXBean().inputArguments + listOf("-cp", System.getProperty("java.class.path"))
  val took = measureTime {
    for (program in listOf("Blocking", "Delays", "ShortDelays")) {
      val exit = ProcessBuilder(listOf(java) + arguments + "io.fibry.kotlin.examples.$program").inheritIO().start().waitFor()
      check(exit == 0) { "$program ended with $exit" }
    }
  }
  println("\nThat took ${took.inWholeSeconds} seconds. One run is a first impression: figures change with what else the machine does.")
  if (!full) println("In the published sizes, half an hour and more on two processors: mvn -q -Pkotlin -Dfull=true -Dvm.args=-Xmx8g; one alone: mvn -q -Pkotlin -Dexample=Blocking")
}
