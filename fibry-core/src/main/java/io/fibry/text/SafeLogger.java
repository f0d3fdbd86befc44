package io.fibry.text;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.Marker;
import org.slf4j.event.Level;
import org.slf4j.helpers.AbstractLogger;
import org.slf4j.helpers.MessageFormatter;
import org.slf4j.spi.LocationAwareLogger;

/**
 * A logger whose calls that log throw nothing. A provider of slf4j is foreign code, and it calls
 * the {@code getMessage} of logged exceptions, which is user code. If a call fails, it is repeated
 * with a stand-in for the exception, which has the class and the stack of the exception. Markers
 * are ignored, because the library uses none.
 */
public final class SafeLogger extends AbstractLogger {
  private static final long serialVersionUID = 1;
  // the method of slf4j that the code of the library calls: its caller is the location of the line
  private static final String CALLED_CLASS = AbstractLogger.class.getName();

  private final transient Logger logger;

  private SafeLogger(Logger logger) {
    this.logger = logger;
    this.name = logger.getName();
  }

  /** Returns the logger whose name is the name of this class. */
  public static Logger of(Class<?> type) {
    return of(type.getName());
  }

  /** Returns the logger of this name. */
  public static Logger of(String name) {
    return new SafeLogger(LoggerFactory.getLogger(name));
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

  @Override
  public boolean isTraceEnabled() {
    return logger.isTraceEnabled();
  }

  @Override
  public boolean isTraceEnabled(Marker marker) {
    return logger.isTraceEnabled();
  }

  @Override
  public boolean isDebugEnabled() {
    return logger.isDebugEnabled();
  }

  @Override
  public boolean isDebugEnabled(Marker marker) {
    return logger.isDebugEnabled();
  }

  @Override
  public boolean isInfoEnabled() {
    return logger.isInfoEnabled();
  }

  @Override
  public boolean isInfoEnabled(Marker marker) {
    return logger.isInfoEnabled();
  }

  @Override
  public boolean isWarnEnabled() {
    return logger.isWarnEnabled();
  }

  @Override
  public boolean isWarnEnabled(Marker marker) {
    return logger.isWarnEnabled();
  }

  @Override
  public boolean isErrorEnabled() {
    return logger.isErrorEnabled();
  }

  @Override
  public boolean isErrorEnabled(Marker marker) {
    return logger.isErrorEnabled();
  }
}
