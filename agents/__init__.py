"""Players of gin rummy: scripted bots, a PPO trainer, and the table where they meet.

Importing `agents` registers its players by name with `ginenv.opponents`.
"""
