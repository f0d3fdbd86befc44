package io.fibry.text;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.Marker;
import org.slf4j.event.Level;
import org.slf4j.helpers.AbstractLogger;
import org.slf4j.helpers.MessageFormatter;
import org.slf4j.helpers.SubstituteLogger;
import org.slf4j.spi.LocationAwareLogger;

/**
 * A logger that throws nothing. A provider of slf4j is foreign code, and it calls the
 * {@code getMessage} of logged exceptions and the filters of the program, which are user code. If a
 * call that logs fails, it is repeated with a stand-in for the exception, which has the class and
 * the stack of the exception. A level whose check fails counts as not enabled. Markers are ignored,
 * because the library uses none.
 */
public final class SafeLogger extends AbstractLogger {
  private static final long serialVersionUID = 1;
  // the method of slf4j that the code of the library calls: its caller is the location of the line
  private static final String CALLED_CLASS = AbstractLogger.class.getName();

  private transient volatile Logger logger;

  SafeLogger(Logger logger) {
    this.logger = logger;
    this.name = logger.getName();
  }

  /**
   * Returns the logger of the provider. While a thread initializes slf4j, other threads get a
   * substitute. A substitute that is made just before the end of this initialization loses all
   * lines. So this method replaces a substitute.
   */
  private Logger logger() {
    var known = logger;
    return known instanceof SubstituteLogger ? logger = find(name) : known;
  }

  /** Returns the logger whose name is the name of this class. */
  public static Logger of(Class<?> type) {
    return of(type.getName());
  }

  /** Returns the logger of this name. */
  public static Logger of(String name) {
    return new SafeLogger(find(name));
  }

  private static Logger find(String name) {
    return LoggerFactory.getLogger(name);
  }

  @Override
  protected String getFullyQualifiedCallerName() {
    return CALLED_CLASS;
  }

  @Override
  protected void handleNormalizedLoggingCall(Level level, Marker marker, String pattern, Object[] arguments,
      Throwable failure) {
    try {
      log(level, marker, pattern, arguments, failure);
    } catch (Throwable thrown) {
      rethrowIfFatal(thrown);
      if (failure != null) logStandIn(level, marker, pattern, arguments, failure);
    }
  }

  private void logStandIn(Level level, Marker marker, String pattern, Object[] arguments, Throwable failure) {
    try {
      log(level, marker, pattern, arguments, new StandIn(failure));
    } catch (Throwable thrown) { // the provider itself is broken, so the line is lost
      rethrowIfFatal(thrown);
    }
  }

  private static void rethrowIfFatal(Throwable thrown) {
    if (thrown instanceof VirtualMachineError error && !(thrown instanceof StackOverflowError)) throw error;
  }

  private void log(Level level, Marker marker, String pattern, Object[] arguments, Throwable failure) {
    var logger = logger();
    if (logger instanceof LocationAwareLogger aware) {
      aware.log(marker, CALLED_CLASS, level.toInt(), pattern, arguments, failure);
      return;
    }
    String text = MessageFormatter.basicArrayFormat(pattern, arguments);
    // no switch: it would need one more class, and a file descriptor to load it
    if (level == Level.ERROR) logger.error(text, failure);
    else if (level == Level.WARN) logger.warn(text, failure);
    else if (level == Level.INFO) logger.info(text, failure);
    else if (level == Level.DEBUG) logger.debug(text, failure);
    else logger.trace(text, failure);
  }

  /** Takes the place of an exception that cannot be printed. */
  private static final class StandIn extends Exception {
    private static final long serialVersionUID = 1;

    StandIn(Throwable failure) {
      super(Lines.thrown(failure) + ", which could not be logged", null, false, true);
      setStackTrace(stackOf(failure));
    }

    private static StackTraceElement[] stackOf(Throwable failure) {
      try {
        return failure.getStackTrace();
      } catch (Throwable thrown) { // getStackTrace may be user code
        rethrowIfFatal(thrown);
        return new StackTraceElement[0];
      }
    }
  }

  /** Returns false if the provider throws, as its filters may: the line is then lost. */
  private boolean isEnabled(Level level) {
    try {
      return logger().isEnabledForLevel(level);
    } catch (Throwable thrown) {
      rethrowIfFatal(thrown);
      return false;
    }
  }

  @Override
  public boolean isTraceEnabled() {
    return isEnabled(Level.TRACE);
  }

  @Override
  public boolean isTraceEnabled(Marker marker) {
    return isEnabled(Level.TRACE);
  }

  @Override
  public boolean isDebugEnabled() {
    return isEnabled(Level.DEBUG);
  }

  @Override
  public boolean isDebugEnabled(Marker marker) {
    return isEnabled(Level.DEBUG);
  }

  @Override
  public boolean isInfoEnabled() {
    return isEnabled(Level.INFO);
  }

  @Override
  public boolean isInfoEnabled(Marker marker) {
    return isEnabled(Level.INFO);
  }

  @Override
  public boolean isWarnEnabled() {
    return isEnabled(Level.WARN);
  }

  @Override
  public boolean isWarnEnabled(Marker marker) {
    return isEnabled(Level.WARN);
  }

  @Override
  public boolean isErrorEnabled() {
    return isEnabled(Level.ERROR);
  }

  @Override
  public boolean isErrorEnabled(Marker marker) {
    return isEnabled(Level.ERROR);
  }
}
